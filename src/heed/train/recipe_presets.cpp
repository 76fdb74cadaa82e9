// The presets: the training and the tokenizer that suit each model of models::transformer_preset.
#include <algorithm>
#include <cassert>
#include <iterator>

#include "heed/base/error.h"
#include "heed/models/presets.h"
#include "heed/train/recipe.h"

namespace heed::train {
namespace {

// Wu and others, ACL 2021, for the tiny Transformer on Multi30k; but the rate falls to zero, and
// over fewer updates. docs/quality.md has the curve.
TrainingOptions tiny_training() {
  TrainingOptions training;
  training.optimizer = {.kind = OptimizerKind::adam,
                        .beta1 = 0.9,
                        .beta2 = 0.98,
                        .epsilon = 1e-8,
                        .weight_decay = 0,
                        .clip = 25};
  training.schedule = {.kind = ScheduleKind::linear, .peak = 0.005, .warm_up = 1500};
  training.batch_tokens = 4096;
  training.after = updates(6000);
  training.average = 10;
  return training;
}

TrainingOptions small_training() {
  TrainingOptions training = tiny_training();
  training.schedule = {.kind = ScheduleKind::inverse_square_root, .peak = 0.001, .warm_up = 4000};
  training.optimizer.clip = 5;
  training.after = updates(40000);
  return training;
}

// Vaswani and others 2017, with a batch for one machine.
TrainingOptions base_training() {
  TrainingOptions training = small_training();
  training.schedule.peak = 0.0007;
  training.accumulate = 4;
  training.after = updates(100000);
  return training;
}

// The built-in corpus: few words, clean grammar, a couple of minutes.
TrainingOptions demo_training() {
  TrainingOptions training = tiny_training();
  training.schedule = {.kind = ScheduleKind::cosine, .peak = 0.003, .warm_up = 150};
  training.optimizer.clip = 1;
  training.batch_tokens = 2048;
  training.average = 1;
  training.after = updates(1000);
  return training;
}

// Short answers to questions about a text. The only signal is the answer, and a model that learns
// from long texts at once stays at guessing; it learns to look things up in short ones first. Of
// 1,000 questions of bAbI task 1, 511 are right without the curriculum, 998 with it.
TrainingOptions answers_training() {
  TrainingOptions training = demo_training();
  training.schedule = {.kind = ScheduleKind::cosine, .peak = 0.001, .warm_up = 150};
  training.batch_tokens = 1024;
  training.curriculum = 12;
  training.validation_metrics = "exact-match";
  training.after = updates(5000);
  return training;
}

// Karpathy's nanoGPT, which trains the same networks on the same plays; but the rate rises to three
// times as much, and falls to zero. After 2,000 updates the validation loss was 1.894 with its
// rate, and is 1.787 with this one.
TrainingOptions character_training() {
  TrainingOptions training;
  training.optimizer = {.kind = OptimizerKind::adamw,
                        .beta1 = 0.9,
                        .beta2 = 0.99,
                        .epsilon = 1e-8,
                        .weight_decay = 0.1,
                        .clip = 1};
  training.schedule = {.kind = ScheduleKind::cosine, .peak = 0.003, .warm_up = 100};
  training.batch_tokens = 12 * 64;
  training.validate_every = training.save_every = updates(250);
  training.after = updates(2000);
  return training;
}

// About an hour on two cores. Looking at 110,000 held-out characters takes as long as ten updates
// or more, so it is done seldom.
TrainingOptions gpt_mini_training() {
  TrainingOptions training = character_training();
  training.schedule.peak = 0.002;
  training.batch_tokens = 8 * 256;
  training.validate_every = training.save_every = updates(500);
  training.after = updates(3000);
  return training;
}

// Answers to prompts: fewer tokens have a loss than in a text, so the rate is lower.
TrainingOptions prompts_training() {
  TrainingOptions training = gpt_mini_training();
  training.schedule.peak = 0.001;
  training.validation_metrics = "exact-match";
  return training;
}

TrainingOptions gpt2_training() {
  TrainingOptions training = character_training();
  training.optimizer.beta2 = 0.95;
  training.schedule = {.kind = ScheduleKind::cosine, .peak = 0.0006, .warm_up = 2000};
  training.batch_tokens = 4 * 1024;
  training.accumulate = 8;
  training.validate_every = training.save_every = updates(500);
  training.after = updates(100000);
  return training;
}

// Short lines in many classes: a few minutes for 15,000 lines (docs/classify.md).
TrainingOptions classes_training() {
  TrainingOptions training;
  training.optimizer = {.kind = OptimizerKind::adamw,
                        .beta1 = 0.9,
                        .beta2 = 0.98,
                        .epsilon = 1e-8,
                        .weight_decay = 0.01,
                        .clip = 1};
  training.schedule = {.kind = ScheduleKind::linear, .peak = 0.002, .warm_up = 300};
  training.batch_tokens = 1024;
  training.after = epochs(30);
  return training;
}

TrainingOptions masked_training() {
  TrainingOptions training = classes_training();
  training.schedule = {.kind = ScheduleKind::linear, .peak = 0.002, .warm_up = 500};
  training.batch_tokens = 4096;
  training.after = epochs(10);
  return training;
}

// MNIST: 60,000 small images (docs/images.md).
TrainingOptions images_training() {
  TrainingOptions training;
  training.optimizer = {.kind = OptimizerKind::adamw,
                        .beta1 = 0.9,
                        .beta2 = 0.98,
                        .epsilon = 1e-8,
                        .weight_decay = 0.05,
                        .clip = 1};
  training.schedule = {.kind = ScheduleKind::cosine, .peak = 0.002, .warm_up = 500};
  training.batch_tokens = 128 * 16;  // 128 images
  training.shift = 2;
  training.after = epochs(30);
  return training;
}

// Sentences of tagged words (docs/tag.md).
TrainingOptions tags_training() { return classes_training(); }

struct Preset {
  std::string_view name;
  text::TokenizerOptions tokenizer;
  TrainingOptions (*training)();
};

constexpr Preset presets[]{
    {"tiny", {}, tiny_training},
    {"small", {}, small_training},
    {"base", {}, base_training},
    {"demo", {.vocabulary = 1000}, demo_training},
    {"answers", {.vocabulary = 1000}, answers_training},
    {"char", {.subwords = text::Subwords::character}, character_training},
    {"gpt-mini", {.subwords = text::Subwords::character}, gpt_mini_training},
    {"gpt2", {}, gpt2_training},
    {"prompts", {.vocabulary = 4000}, prompts_training},
    {"classes", {.vocabulary = 4000}, classes_training},
    {"masked", {.vocabulary = 8000}, masked_training},
    {"images", {}, images_training},
    {"tags", {.vocabulary = 4000}, tags_training},
};

// A run may be shorter than the preset's own; its rate reaches the peak all the same.
constexpr double max_warm_up_share = 0.1;

}  // namespace

Recipe recipe_preset(std::string_view name) {
  const models::TransformerConfig model = models::transformer_preset(name);  // refuses other names
  const auto preset = std::ranges::find(presets, name, &Preset::name);
  assert(preset != std::end(presets));
  Recipe recipe{model, preset->tokenizer, preset->training()};
  recipe.tokenizer.fit_vocabulary = true;
  recipe.training.schedule.max_warm_up_share = max_warm_up_share;
  return recipe;
}

}  // namespace heed::train
