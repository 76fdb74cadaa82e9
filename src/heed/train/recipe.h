// A recipe: everything that decides the result of a training run besides its data. The model, the
// tokenizer and the training.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "heed/metrics/bleu.h"
#include "heed/models/transformer_config.h"
#include "heed/text/tokenizer.h"
#include "heed/train/optimizer.h"
#include "heed/train/run_length.h"
#include "heed/train/schedule.h"

namespace heed::train {

// Weight of an example in the training loss: 1, or such that all classes together count the same.
enum class ClassWeights { none, balanced };

// How long a run waits for a disk that is full, or whose server is away.
struct RetryOptions {
  std::chrono::milliseconds interval{5000};
  std::chrono::milliseconds limit{60000};  // then the run is given up
};

struct TrainingOptions {
  OptimizerOptions optimizer;
  ScheduleOptions schedule;
  Index batch_tokens = 4096;  // of pairs, the larger of source and target
  Index accumulate = 1;       // batches per update
  Index max_length = 256;     // in tokens; longer examples are left out
  Index curriculum = 0;       // epochs that begin with the shortest examples; 0: all from the start
  double bpe_dropout = 0;     // probability of skipping a merge, drawn again in every epoch
  RunLength after = updates(8000);
  RunLength validate_every = epochs(1);
  RunLength save_every = epochs(1);
  double save_minutes = 10;  // a checkpoint at the latest after this time; 0: by `save_every` alone
  // What early stopping watches: loss, or a validation score like bleu or exact-match; none: the
  // run does not stop early.
  std::string early_stopping = "none";
  Index patience = 10;  // validations without improvement
  Index average = 1;    // checkpoints whose weights are averaged; 1: no average
  double ema = 0;       // decay of an exponential moving average of the weights; 0: none
  std::string validation_metrics = "bleu";  // of generated text; see text_metrics.h
  metrics::BleuTokenizer tokenize = metrics::BleuTokenizer::mteval_13a;
  ClassWeights class_weights = ClassWeights::none;
  Index shift = 0;    // maximum random shift of images in pixels: a random crop
  bool flip = false;  // images are mirrored left to right with probability 1/2
  // Names or numbers of the columns of source and target, of label and text, or of prompt and
  // answer; empty: recognised.
  std::string fields = {};
  std::optional<bool> header = {};  // of files with columns; nothing: recognised
  std::uint64_t seed = 1;
  Index keep = 0;  // checkpoints whose weights are kept, spread over the run, to look at later
  // A run that diverges stops at once, and does not go back to its last checkpoint.
  bool strict = false;
  RetryOptions write_retry = {};  // not part of the recipe
  // Fine-tuning of a pretrained model.
  std::string freeze = {};  // prefixes of the names of frozen parameters, separated by commas
  Index lora = 0;           // above 0: the rank of a LoRA adapter, which alone is trained
};

struct Recipe {
  models::TransformerConfig model;  // its vocabulary and labels come from the files
  text::TokenizerOptions tokenizer;
  TrainingOptions training;
};

// The rows of the model's table: those of a base model of another family, or one for each piece of
// the tokenizer. Refuses (ErrorKind::model) a tokenizer with more pieces than the base has rows.
void set_vocabulary(models::TransformerConfig& model, const text::Tokenizer& tokenizer);

// The tokens that a language model of running text sees at once in training: all that it can, or,
// of another family, where that may be very many, no more than `max_length`.
Index context_length(const Recipe& recipe);

// Values of a recipe by name, as on the command line: recipe_fields.h.
using Settings = std::map<std::string, std::string>;

// The model that models::transformer_preset has under this name, with the tokenizer and the
// training that suit it. Refuses other names.
Recipe recipe_preset(std::string_view name);

// Refuses values out of range, and settings that do not go together (ErrorKind::usage).
void validate(const TrainingOptions& options);
void validate(const Recipe& recipe);

}  // namespace heed::train
