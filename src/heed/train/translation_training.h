// A whole training run, from two texts to a model folder: what `heed train` and `heed demo` call.
#pragma once

#include <string>

#include "heed/train/training_run.h"

namespace heed::train {

// Paths; the last two may be empty.
struct TranslationTexts {
  std::string source, target, valid_source, valid_target;
};

struct TranslationTraining {
  std::string model_folder;
  TranslationTexts texts;
  Recipe recipe;
};

// Trains the tokenizer and the model, or goes on where the folder's checkpoint stands. All that can
// be wrong with options and texts is found before the folder is made: Error(usage) for options,
// Error(data) for texts.
TrainingResult train_translation(const TranslationTraining& training, TrainingObserver& observer);

// The texts of a run that was begun.
TranslationTexts translation_texts(const TrainingFiles& files);

}  // namespace heed::train
