// A whole training run, from two texts to a model folder: what `heed train` and `heed demo` call.
#pragma once

#include <optional>
#include <string>

#include "heed/train/checkpoint.h"
#include "heed/train/training_observer.h"

namespace heed::train {

struct TranslationTraining {
  std::string model_folder;
  TrainingTexts texts;  // paths; the hash is computed
  Recipe recipe;
};

struct TrainingResult {
  RunEnd end = RunEnd::finished;
  Index update = 0;
  bool was_finished = false;  // nothing was left to do
  std::string weights_hash;   // of the model in the folder: "sha256:..."; empty when interrupted
};

// Trains the tokenizer and the model, or goes on where the folder's checkpoint stands. All that can
// be wrong with options and texts is found before the folder is made: Error(usage) for options,
// Error(data) for texts.
TrainingResult train_translation(const TranslationTraining& training, TrainingObserver& observer);

// The run that was begun in a folder; nothing when there is none.
std::optional<RunDescription> begun_run(const std::string& model_folder);

}  // namespace heed::train
