// From files to a model folder: what `heed train` and `heed demo` call, whatever is trained.
#pragma once

#include <span>
#include <string>

#include "heed/train/training_kind.h"

namespace heed::train {

struct Training {
  std::string model_folder;
  FilePaths files;  // by role
  Recipe recipe;
};

// All kinds of training there are.
std::span<const TrainingKind> training_kinds();

// The kind that reads these files. Refuses (ErrorKind::usage) files of no kind or of two, and names
// those that are missing.
const TrainingKind& kind_of(const FilePaths& files);

// Begins, or goes on where the folder's checkpoint stands. All that can be wrong with options and
// files is found before the folder is made: Error(usage) for options, Error(data) for files. The
// files say of what kind the model is, whatever the recipe says.
TrainingResult train_model(Training training, TrainingObserver& observer);

}  // namespace heed::train
