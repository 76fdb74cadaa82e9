// The training that suits each network: one table, to be read and tuned.
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
  training.after = parse_run_length("6000u", "after");
  training.average = 10;
  return training;
}

TrainingOptions small_training() {
  TrainingOptions training = tiny_training();
  training.schedule = {.kind = ScheduleKind::inverse_square_root, .peak = 0.001, .warm_up = 4000};
  training.optimizer.clip = 5;
  training.after = parse_run_length("40000u", "after");
  return training;
}

// Vaswani and others 2017, with a batch for one machine.
TrainingOptions base_training() {
  TrainingOptions training = small_training();
  training.schedule.peak = 0.0007;
  training.accumulate = 4;
  training.after = parse_run_length("100000u", "after");
  return training;
}

// The built-in corpus: few words, clean grammar, a couple of minutes.
TrainingOptions demo_training() {
  TrainingOptions training = tiny_training();
  training.schedule = {.kind = ScheduleKind::cosine, .peak = 0.003, .warm_up = 150};
  training.optimizer.clip = 1;
  training.batch_tokens = 2048;
  training.average = 1;
  training.after = parse_run_length("1000u", "after");
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
  training.validate_every = training.save_every = parse_interval("250u", "validate-every");
  training.after = parse_run_length("2000u", "after");
  return training;
}

// About an hour on two cores. Looking at 110,000 held-out characters takes as long as ten updates
// or more, so it is done seldom.
TrainingOptions gpt_mini_training() {
  TrainingOptions training = character_training();
  training.schedule.peak = 0.002;
  training.batch_tokens = 8 * 256;
  training.validate_every = training.save_every = parse_interval("500u", "validate-every");
  training.after = parse_run_length("3000u", "after");
  return training;
}

TrainingOptions gpt2_training() {
  TrainingOptions training = character_training();
  training.optimizer.beta2 = 0.95;
  training.schedule = {.kind = ScheduleKind::cosine, .peak = 0.0006, .warm_up = 2000};
  training.batch_tokens = 4 * 1024;
  training.accumulate = 8;
  training.validate_every = training.save_every = parse_interval("500u", "validate-every");
  training.after = parse_run_length("100000u", "after");
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
  training.after = parse_run_length("30e", "after");
  return training;
}

TrainingOptions masked_training() {
  TrainingOptions training = classes_training();
  training.schedule = {.kind = ScheduleKind::linear, .peak = 0.002, .warm_up = 500};
  training.batch_tokens = 4096;
  training.after = parse_run_length("10e", "after");
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
  training.after = parse_run_length("30e", "after");
  return training;
}

}  // namespace

Recipe recipe_preset(std::string_view name) {
  Recipe recipe;
  recipe.model = models::transformer_preset(name);  // refuses names that are not below
  if (name == "tiny") recipe.training = tiny_training();
  if (name == "small") recipe.training = small_training();
  if (name == "base") recipe.training = base_training();
  if (name == "demo") {
    recipe.training = demo_training();
    recipe.tokenizer = {.vocabulary = 1000, .subwords = text::Subwords::bpe};
  }
  if (name == "char" || name == "gpt-mini") recipe.tokenizer.subwords = text::Subwords::character;
  if (name == "char") recipe.training = character_training();
  if (name == "gpt-mini") recipe.training = gpt_mini_training();
  if (name == "gpt2") recipe.training = gpt2_training();
  if (name == "classes" || name == "masked") {
    recipe.tokenizer = {.vocabulary = name == "masked" ? 8000 : 4000};
  }
  if (name == "classes") recipe.training = classes_training();
  if (name == "masked") recipe.training = masked_training();
  if (name == "images") recipe.training = images_training();
  return recipe;
}

}  // namespace heed::train
