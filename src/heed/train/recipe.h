// Everything that decides what a training run gives: the network, the tokenizer, the training.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/metrics/bleu_tokenizers.h"
#include "heed/models/transformer_config.h"
#include "heed/text/tokenizer.h"
#include "heed/train/early_stopping.h"
#include "heed/train/optimizer.h"
#include "heed/train/run_length.h"
#include "heed/train/schedule.h"

namespace heed::train {

// What a line counts in training: once, or so much that all classes together count the same.
enum class ClassWeights { none, balanced };

struct TrainingOptions {
  OptimizerOptions optimizer;
  ScheduleOptions schedule;
  Index batch_tokens = 4096;
  Index accumulate = 1;    // batches whose gradients make one update
  Index max_length = 256;  // longer sentences are left out
  double bpe_dropout = 0;  // share of the merges of bpe that every epoch leaves out at random
  RunLength after{.epochs = {}, .updates = 8000, .minutes = {}};
  RunLength validate_every{.epochs = 1, .updates = {}, .minutes = {}};
  RunLength save_every{.epochs = 1, .updates = {}, .minutes = {}};
  StoppingMetric early_stopping = StoppingMetric::none;
  Index patience = 10;  // validations without a gain
  Index average = 1;    // the model is the mean of the weights at this many last checkpoints
  double ema = 0;       // or their moving average with this decay; 0: neither
  bool validation_bleu = true;
  metrics::BleuTokenizer tokenize = metrics::BleuTokenizer::mteval_13a;
  ClassWeights class_weights = ClassWeights::none;
  Index shift = 0;                       // images move by up to so many pixels, anew in every epoch
  std::string fields = "source,target";  // of the records that pairs are read from
  std::uint64_t seed = 1;
  Index keep = 0;  // weights of so many checkpoints stay, spread over the run, for looking back
  // For a run that begins with another model.
  std::string freeze = {};  // beginnings of names, with commas: these parameters stay as they are
  Index lora = 0;           // above 0: only low-rank changes of this rank are learned
};

struct Recipe {
  models::TransformerConfig model;  // its vocabulary and labels come from the files
  text::TokenizerOptions tokenizer;
  TrainingOptions training;
};

// The network that models::transformer_preset has under this name, with the tokenizer and the
// training that suit it. Refuses other names.
Recipe recipe_preset(std::string_view name);

// Refuses what cannot be trained (ErrorKind::usage).
void validate(const Recipe& recipe);

// One setting of a recipe under the name that the command line gives it, without the dashes.
struct RecipeField {
  std::string name;
  std::string other_name;  // that means the same; may be empty
  std::string description;
  std::function<std::string()> get;
  std::function<void(std::string_view)> set;  // refuses bad values (ErrorKind::usage)
};

// The only list of settings: options, checkpoints and comparisons all use it. The fields refer to
// `recipe`, which must outlive them. Those that may change when a run goes on (`keep`, `after`)
// come last.
std::vector<RecipeField> recipe_fields(Recipe& recipe);

std::string to_json(const Recipe& recipe);
Recipe recipe_from_json(std::string_view text, const std::string& source);

// Refuses (ErrorKind::usage) to go on with other settings than a run was begun with, and names the
// first that differs. `keep` and `after` may differ.
void check_same_recipe(const Recipe& begun, const Recipe& asked);

}  // namespace heed::train
