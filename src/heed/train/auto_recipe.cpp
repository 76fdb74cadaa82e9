#include "heed/train/auto_recipe.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "heed/models/config_fields.h"

namespace heed::train {
namespace {

using models::ModelKind;

// The share of the speed of large matrix products that training reaches.
constexpr double training_efficiency = 0.75;

// Operations per multiplication by a weight: multiply and add, forward and twice backward.
constexpr double operations_per_weight = 6;

// Of the tokens of a line, those that a masked model predicts.
constexpr double masked_share = 0.15;

double as_double(Index value) { return static_cast<double>(value); }

bool has_images(const Recipe& recipe) { return recipe.model.kind == ModelKind::image_classifier; }

// Of an epoch.
double source_tokens(const Recipe& recipe, const DataSize& data) {
  if (has_images(recipe)) return as_double(data.images.count * models::num_patches(recipe.model));
  return as_double(data.source.tokens);
}

// Multiplications by a weight in one forward pass over the data.
double epoch_weights(const Recipe& recipe, const DataSize& data) {
  const models::TransformerConfig& model = recipe.model;
  const double width = as_double(model.model_dim);
  const double matrices = model.activation == models::Activation::swiglu ? 3 : 2;
  const double feed_forward = matrices * width * as_double(model.feed_forward_dim);
  const double encoder = as_double(model.encoder_layers) * (4 * width * width + feed_forward);
  const double attention = model.encoder_layers > 0 ? 8 : 4;  // cross-attention has its own
  const double decoder =
      as_double(model.decoder_layers) * (attention * width * width + feed_forward);
  const double output = as_double(recipe.tokenizer.vocabulary) * width;
  const double source = source_tokens(recipe, data), target = as_double(data.target.tokens);
  switch (model.kind) {
    case ModelKind::translation:
      return source * encoder + target * (decoder + output);
    case ModelKind::language:  // of prompts, the answers alone are predicted
      return (source + target) * decoder + (target > 0 ? target : source) * output;
    case ModelKind::masked:
      return source * (encoder + masked_share * output);
    default:
      return source * encoder;
  }
}

// Tokens that fill the batches of an epoch.
double epoch_tokens(const Recipe& recipe, const DataSize& data) {
  const double source = source_tokens(recipe, data), target = as_double(data.target.tokens);
  switch (recipe.model.kind) {
    case ModelKind::translation:
      return std::max({source, target, 1.0});
    case ModelKind::language:
      return std::max(source + target, 1.0);
    default:
      return std::max(source, 1.0);
  }
}

// Tokens that the run sees, those of all epochs together.
double estimated_tokens(const Recipe& recipe, const DataSize& data, const RunBudget& budget) {
  return estimated_epochs(recipe, data, budget) * epoch_tokens(recipe, data);
}

double estimated_updates(const Recipe& recipe, const DataSize& data, const RunBudget& budget) {
  return estimated_tokens(recipe, data, budget) / as_double(recipe.training.batch_tokens);
}

// A smaller batch where a large one would leave too few updates to learn from. The rate goes with
// the square root of the batch, as the noise of its gradient does.
void fit_batch(Recipe& recipe, const DataSize& data, const RunBudget& budget, double min_updates,
               Index min_batch) {
  TrainingOptions& training = recipe.training;
  const double peak = training.schedule.peak, batch = as_double(training.batch_tokens);
  while (training.batch_tokens / 2 >= min_batch &&
         estimated_updates(recipe, data, budget) < min_updates) {
    training.batch_tokens /= 2;
  }
  const double rate = peak * std::sqrt(as_double(training.batch_tokens) / batch);
  training.schedule.peak = std::round(rate * 1e4) / 1e4;
}

// Lengths that leave out one example in 200 at most, and that a batch has room for.
void fit_lengths(Recipe& recipe, const DataSize& data) {
  constexpr double pieces_per_token = 1.5;
  const Index longest = std::max(data.source.most_tokens, data.target.most_tokens);
  TrainingOptions& training = recipe.training;
  const auto needed = static_cast<Index>(pieces_per_token * as_double(longest)) + 2;
  training.max_length = std::clamp<Index>(needed, training.max_length, 1024);
  training.batch_tokens = std::max(training.batch_tokens, training.max_length);
}

// Rounded to thousands.
int vocabulary_for(double tokens) {
  constexpr double tokens_per_piece = 60;
  const double thousands = std::round(tokens / tokens_per_piece / 1000);
  return 1000 * static_cast<int>(std::clamp(thousands, 1.0, 10.0));
}

// Dropout by the passes over the data: what is seen once needs none.
float dropout_for(double epochs) {
  if (epochs < 5) return 0.1f;
  return epochs < 25 ? 0.2f : 0.3f;
}

// Answers repeat, and are short: questions about a text, rather than translations of it.
bool has_short_answers(const DataSize& data) {
  constexpr Index max_tokens = 3, examples_per_answer = 20;
  return data.target.tokens <= max_tokens * data.target.lines &&
         data.target.distinct_lines * examples_per_answer <= data.target.lines;
}

// A model that is trained on few tokens learns more from seeing more of them than from its size.
struct TranslatorSize {
  Index layers;
  int vocabulary;
  double min_tokens;  // that the run sees
};
constexpr std::array translator_sizes{TranslatorSize{2, 4000, 0}, TranslatorSize{3, 6000, 1.5e6},
                                      TranslatorSize{4, 10000, 4e6}};

// The largest that sees enough tokens in the time that it takes.
Recipe translator_for(const DataSize& data, const RunBudget& budget) {
  constexpr double min_tokens_of_small = 5e7, min_data_of_small = 5e6;
  const int vocabulary = vocabulary_for(as_double(data.source.tokens + data.target.tokens));
  const auto fitted = [&](Recipe recipe, int max_vocabulary) {
    recipe.model.positions = models::Positions::rotary;
    recipe.tokenizer.vocabulary = std::min(vocabulary, max_vocabulary);
    return recipe;
  };
  Recipe recipe = fitted(recipe_preset("small"), vocabulary);
  if (estimated_tokens(recipe, data, budget) >= min_tokens_of_small &&
      epoch_tokens(recipe, data) >= min_data_of_small) {
    return recipe;
  }
  for (const TranslatorSize& size : translator_sizes) {
    Recipe larger = fitted(recipe_preset("tiny"), size.vocabulary);
    larger.model.encoder_layers = larger.model.decoder_layers = size.layers;
    if (estimated_tokens(larger, data, budget) < size.min_tokens) break;
    recipe = larger;
  }
  return recipe;
}

Recipe text_to_text(const DataSize& data, const RunBudget& budget) {
  if (has_short_answers(data)) {
    Recipe recipe = recipe_preset("answers");
    fit_lengths(recipe, data);
    return recipe;
  }
  Recipe recipe = translator_for(data, budget);
  fit_batch(recipe, data, budget, 900, 1024);
  recipe.model.dropout = dropout_for(estimated_epochs(recipe, data, budget));
  fit_lengths(recipe, data);
  return recipe;
}

// Of classifiers and taggers: a batch has enough examples of all classes, also of long texts.
Recipe classifier(std::string_view preset, const DataSize& data) {
  constexpr Index examples_per_batch = 32, max_batch = 8192;
  Recipe recipe = recipe_preset(preset);
  TrainingOptions& training = recipe.training;
  recipe.tokenizer.vocabulary =
      std::min(recipe.tokenizer.vocabulary, vocabulary_for(as_double(data.source.tokens)));
  const Index needed =
      examples_per_batch * data.source.tokens / std::max<Index>(1, data.source.lines);
  training.batch_tokens = std::clamp(needed, training.batch_tokens, max_batch);
  fit_lengths(recipe, data);
  return recipe;
}

struct LanguageSize {
  Index layers, width, heads, context;
  double peak_rate;
};
constexpr std::array language_sizes{
    LanguageSize{4, 128, 4, 64, 0.003}, LanguageSize{4, 192, 6, 128, 0.003},
    LanguageSize{6, 256, 8, 256, 0.002}, LanguageSize{6, 384, 6, 256, 0.002},
    LanguageSize{8, 512, 8, 256, 0.001}};

Recipe language_model(std::string_view preset, const LanguageSize& size,
                      const text::TokenizerOptions& tokenizer) {
  Recipe recipe = recipe_preset(preset);
  recipe.tokenizer = tokenizer;
  recipe.model.decoder_layers = size.layers;
  recipe.model.model_dim = size.width;
  recipe.model.feed_forward_dim = (8 * size.width / 3 + 63) / 64 * 64;  // SwiGLU has 3 matrices
  recipe.model.num_heads = size.heads;
  recipe.model.max_positions = size.context;
  recipe.training.batch_tokens = std::max<Index>(1024, 8 * size.context);
  recipe.training.schedule.peak = size.peak_rate;
  return recipe;
}

// The largest model that sees enough tokens for its weights. `data` counts the tokenizer's tokens.
Recipe largest_language_model(std::string_view preset, const text::TokenizerOptions& tokenizer,
                              const DataSize& data, const RunBudget& budget) {
  constexpr double tokens_per_weight = 2;
  Recipe recipe = language_model(preset, language_sizes.front(), tokenizer);
  for (const LanguageSize& size : language_sizes) {
    const Recipe larger = language_model(preset, size, tokenizer);
    const double weights = epoch_weights(larger, data) / epoch_tokens(larger, data);
    if (estimated_tokens(larger, data, budget) < tokens_per_weight * weights) break;
    recipe = larger;
  }
  const double epochs = estimated_epochs(recipe, data, budget);
  recipe.model.dropout = epochs < 3 ? 0 : epochs < 10 ? 0.1f : 0.2f;
  return recipe;
}

// Characters of a short text, pieces of a long one.
Recipe language_model(const DataSize& data, const RunBudget& budget) {
  constexpr Index max_characters = 4'000'000;
  text::TokenizerOptions tokenizer{.vocabulary = vocabulary_for(as_double(data.source.tokens)),
                                   .fit_vocabulary = true};
  DataSize units = data;
  if (4 * data.source.tokens <= max_characters) {
    tokenizer.subwords = text::Subwords::character;
    tokenizer.vocabulary = 100;  // in the estimates: the text has what it has
    units.source.tokens = 4 * data.source.tokens;
  }
  return largest_language_model("gpt-mini", tokenizer, units, budget);
}

// A context in which a prompt and its answer have room, whichever of them is long.
void fit_context(Recipe& recipe, const DataSize& data) {
  constexpr double pieces_per_token = 1.5;
  const Index longest = data.source.most_tokens + data.target.most_tokens;
  const auto needed = static_cast<Index>(pieces_per_token * as_double(longest)) + 2;
  recipe.model.max_positions = std::clamp<Index>(needed, 64, 1024);
  TrainingOptions& training = recipe.training;
  training.max_length = recipe.model.max_positions;
  training.batch_tokens = std::max(training.batch_tokens, training.max_length);
}

// Short answers are learned from short prompts first, as in the preset `answers`.
Recipe prompt_model(const DataSize& data, const RunBudget& budget) {
  const double tokens = as_double(data.source.tokens + data.target.tokens);
  const text::TokenizerOptions tokenizer{.vocabulary = vocabulary_for(tokens),
                                         .fit_vocabulary = true};
  Recipe recipe = largest_language_model("prompts", tokenizer, data, budget);
  if (has_short_answers(data)) {
    const TrainingOptions answers = recipe_preset("answers").training;
    recipe.training.schedule.peak = answers.schedule.peak;
    recipe.training.curriculum = answers.curriculum;
    recipe.model.dropout = 0;
  }
  fit_context(recipe, data);
  return recipe;
}

Recipe masked_model(const DataSize& data, const RunBudget& budget) {
  Recipe recipe = recipe_preset("masked");
  recipe.tokenizer.vocabulary =
      std::min(recipe.tokenizer.vocabulary, vocabulary_for(as_double(data.source.tokens)));
  fit_batch(recipe, data, budget, 1000, 1024);
  fit_lengths(recipe, data);
  return recipe;
}

// The time of a pass grows with their number.
constexpr Index max_patches = 64;

// The smallest side with so few patches; if one that is not twice as large divides the image, that.
Index patch_side_for(Index height, Index width, Index most_patches) {
  constexpr Index min_side = 2;
  const double area = as_double(height) * as_double(width) / as_double(most_patches);
  const Index smallest = std::max(min_side, static_cast<Index>(std::ceil(std::sqrt(area))));
  for (Index side = smallest; side < 2 * smallest; ++side) {
    if (height % side == 0 && width % side == 0) return side;
  }
  return smallest;
}

Index nearest_multiple(Index size, Index of) {
  return std::max<Index>(1, (size + of / 2) / of) * of;
}

// Images as they are, but not larger than they need to be to tell what they show.
void fit_image(models::TransformerConfig& model, const ImageDataSize& images, Index most_patches) {
  constexpr Index max_side = 64;
  const Index longest = std::max({images.height, images.width, max_side});
  const Index height = std::max<Index>(1, images.height * max_side / longest);
  const Index width = std::max<Index>(1, images.width * max_side / longest);
  model.patch_side = patch_side_for(height, width, most_patches);
  model.image_height = nearest_multiple(height, model.patch_side);
  model.image_width = nearest_multiple(width, model.patch_side);
  model.image_channels = images.channels;
}

struct ImageModelSize {
  Index most_patches, layers, width, feed_forward, heads, batch_images;
  double peak_rate;
  double min_seen;   // images that the run sees, those of all epochs together
  Index min_images;  // of the data
};
constexpr std::array image_sizes{
    ImageModelSize{16, 4, 64, 256, 4, 128, 0.002, 0, 0},
    ImageModelSize{max_patches, 4, 64, 256, 4, 64, 0.002, 4e5, 0},
    ImageModelSize{max_patches, 6, 128, 256, 4, 64, 0.0015, 8e5, 10'000},
    ImageModelSize{max_patches, 9, 192, 384, 6, 64, 0.001, 2e6, 30'000},
    ImageModelSize{max_patches, 12, 384, 768, 6, 64, 0.0005, 6e6, 30'000}};

Recipe image_classifier(const ImageModelSize& size, const ImageDataSize& images) {
  Recipe recipe = recipe_preset("images");
  models::TransformerConfig& model = recipe.model;
  fit_image(model, images, size.most_patches);
  model.encoder_layers = size.layers;
  model.model_dim = size.width;
  model.feed_forward_dim = size.feed_forward;
  model.num_heads = size.heads;
  recipe.training.batch_tokens = size.batch_images * models::num_patches(model);
  recipe.training.schedule.peak = size.peak_rate;
  return recipe;
}

// The largest that sees enough images in the time of the run, or in ten minutes.
Recipe image_classifier(const DataSize& data, const RunBudget& budget) {
  constexpr double default_minutes = 10, epochs_without_dropout = 60;
  if (data.images.count == 0) return recipe_preset("images");
  RunBudget timed = budget;
  if (!timed.after.minutes) timed.after.minutes = default_minutes;
  Recipe recipe = image_classifier(image_sizes.front(), data.images);
  for (const ImageModelSize& size : image_sizes) {
    const Recipe larger = image_classifier(size, data.images);
    const double seen = estimated_epochs(larger, data, timed) * as_double(data.images.count);
    if (seen < size.min_seen || data.images.count < size.min_images) break;
    recipe = larger;
  }
  if (estimated_epochs(recipe, data, budget) < epochs_without_dropout) recipe.model.dropout = 0;
  return recipe;
}

// An image size that was given decides about the patches, a patch side about the image size.
void fit_patches(models::TransformerConfig& model, const Settings& settings) {
  const bool has_height = settings.contains("image-height");
  const bool has_width = settings.contains("image-width");
  Index& side = model.patch_side;
  if (!settings.contains("patch-side")) {
    if (!has_height && !has_width) return;
    models::check_ranges(model, "model", ErrorKind::usage);
    side = patch_side_for(model.image_height, model.image_width, max_patches);
    const Index common = std::gcd(model.image_height, model.image_width);
    if (common % side != 0) side = common;
  }
  if (!has_height) model.image_height = nearest_multiple(model.image_height, side);
  if (!has_width) model.image_width = nearest_multiple(model.image_width, side);
}

Recipe chosen_recipe(ModelKind kind, const DataSize& data, const RunBudget& budget) {
  switch (kind) {
    case ModelKind::translation:
      return text_to_text(data, budget);
    case ModelKind::classifier:
      return classifier("classes", data);
    case ModelKind::tagger:
      return classifier("tags", data);
    case ModelKind::language:
      return data.target.lines > 0 ? prompt_model(data, budget) : language_model(data, budget);
    case ModelKind::masked:
      return masked_model(data, budget);
    case ModelKind::encoder:
      fail(ErrorKind::usage,
           "training: expected a model with a task to train, found heed-encoder, which only makes "
           "vectors of sentences");
    case ModelKind::image_classifier:
      break;
  }
  return image_classifier(data, budget);
}

}  // namespace

void fit_to_settings(Recipe& recipe, const Settings& settings) {
  models::TransformerConfig& model = recipe.model;
  TrainingOptions& training = recipe.training;
  if (!settings.contains("heads")) {
    const auto fits = [&] { return model.model_dim % (2 * model.num_heads) == 0; };
    while (model.num_heads > 1 && !fits()) --model.num_heads;
  }
  if (!settings.contains("max-positions") && model.kind == ModelKind::language) {
    model.max_positions = std::min(model.max_positions, training.batch_tokens);
  }
  if (!settings.contains("max-length")) {
    training.max_length = std::min(training.max_length, training.batch_tokens);
    if (model.positions == models::Positions::learned) {
      training.max_length = std::min(training.max_length, model.max_positions);
    }
  }
  if (has_images(recipe)) fit_patches(model, settings);
}

double estimated_epochs(const Recipe& recipe, const DataSize& data, const RunBudget& budget) {
  const RunLength& after = budget.after;
  double epochs = std::numeric_limits<double>::infinity();
  if (after.epochs) epochs = as_double(*after.epochs);
  if (after.updates) {
    epochs = std::min(epochs, as_double(*after.updates) * as_double(recipe.training.batch_tokens) /
                                  epoch_tokens(recipe, data));
  }
  if (after.minutes) {
    const double seconds =
        operations_per_weight * epoch_weights(recipe, data) / (training_efficiency * budget.speed);
    epochs = std::min(epochs, *after.minutes * 60 / seconds);
  }
  return epochs;
}

bool is_chosen(std::string_view setting) {
  constexpr std::string_view chosen[]{
      "width",         "encoder-layers", "decoder-layers", "feed-forward",    "heads",
      "image-height",  "image-width",    "image-channels", "patch-side",      "positions",
      "max-positions", "norm",           "dropout",        "label-smoothing", "vocabulary",
      "subwords",      "batch-tokens",   "max-length",     "curriculum",      "learning-rate",
      "schedule",      "warm-up",        "clip",           "average",         "validation-metrics"};
  return std::ranges::count(chosen, setting) > 0;
}

Recipe auto_recipe(ModelKind kind, const DataSize& data, const RunBudget& budget) {
  Recipe recipe = chosen_recipe(kind, data, budget);
  recipe.training.after = budget.after;
  return recipe;
}

Recipe auto_recipe(ModelKind kind, const DataSize& data, const RunBudget& budget,
                   const Settings& settings) {
  Recipe recipe = auto_recipe(kind, data, budget);
  customize(recipe, settings);
  fit_to_settings(recipe, settings);
  return recipe;
}

}  // namespace heed::train
