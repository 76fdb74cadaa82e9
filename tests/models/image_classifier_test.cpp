#include "heed/models/image_classifier.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/train/optimizer.h"
#include "models/same_gradients.h"
#include "models/small_models.h"
#include "nn/module_parameters.h"
#include "support/same_bits.h"
#include "support/sample.h"

namespace heed::models {
namespace {

constexpr Index patches_of_one = 6;  // of 8 x 12 pixels, in squares of 4

TransformerConfig image_config(Pooling pooling = Pooling::mean) {
  TransformerConfig config = small_config(ModelKind::image_classifier);
  config.vocabulary = 0;
  config.labels = {"bat", "cave", "racket"};
  config.positions = Positions::learned;
  config.pooling = pooling;
  config.image_height = 8;
  config.image_width = 12;
  config.patch_side = 4;
  return config;
}

Tensor logits_of(const ImageClassifier& model, const Tensor& patches) {
  auto context = nn::ForwardContext::inference();
  return model.logits(patches, context);
}

TEST(ImageClassifier, NamesItsParametersLikeTheOtherClassifier) {
  ImageClassifier model(image_config(Pooling::attention), 1);
  const std::vector<std::string> names = nn::parameter_names(model);
  EXPECT_EQ(names.front(), "embedding.projection.weight");
  EXPECT_EQ(std::ranges::count(names, "encoder.1.self_attention.query.weight"), 1);
  EXPECT_EQ((std::vector<std::string>{names.end() - 3, names.end()}),
            (std::vector<std::string>{"pooling.query", "head.weight", "head.bias"}));
}

TEST(ImageClassifier, HasAsManyParametersAsItsConfigurationSays) {
  for (const Pooling pooling : {Pooling::mean, Pooling::attention}) {
    ImageClassifier model(image_config(pooling), 1);
    Index total = 0;
    for (const nn::NamedTensor& parameter : nn::named_parameters(model)) {
      total += parameter.value.size();
    }
    EXPECT_EQ(num_parameters(model.config()), total);
  }
}

TEST(ImageClassifier, OtherImagesOfTheBatchChangeNothingToTheBit) {
  for (const Pooling pooling : {Pooling::mean, Pooling::attention}) {
    const ImageClassifier model(image_config(pooling), 1);
    const Tensor patches = sample({3 * patches_of_one, 16});
    const Tensor together = logits_of(model, patches);
    ASSERT_EQ(together.shape(), (Shape{3, 3}));
    for (Index i = 0; i < 3; ++i) {
      const Tensor one = rows_of(patches, i * patches_of_one, patches_of_one);
      EXPECT_TRUE(same_bits(logits_of(model, one), rows_of(together, i, 1))) << "image " << i;
    }
  }
}

TEST(ImageClassifier, SeesWhereAPatchStands) {
  const ImageClassifier model(image_config(), 1);
  Tensor patches = sample({patches_of_one, 16});
  const Tensor before = logits_of(model, patches);
  std::swap_ranges(patches.data(), patches.data() + 16, patches.data() + 16);
  EXPECT_FALSE(same_bits(logits_of(model, patches), before));
}

TEST(ImageClassifier, EveryParameterGetsTheSameGradientForAnyNumberOfThreads) {
  TransformerConfig config = image_config(Pooling::attention);
  config.attention_dropout = 0.1f;
  const ImageBatch batch{sample({2 * patches_of_one, 16}), {0, 2}};
  expect_same_gradients_for_any_threads([&] { return ImageClassifier(config, 1); }, batch);
}

TEST(ImageClassifier, MemorisesADozenImages) {
  TransformerConfig config = image_config();
  config.dropout = config.label_smoothing = 0;
  ImageClassifier model(config, 1);
  const ImageBatch batch{sample({12 * patches_of_one, 16}), {0, 1, 2, 2, 1, 0, 0, 0, 1, 2, 1, 2}};
  train::Optimizer optimizer(nn::named_parameters(model), {});
  for (int update = 1; update <= 80; ++update) {
    auto context = nn::ForwardContext::training(1, update);
    backward(model.loss(batch, context).loss);
    optimizer.step(5e-3 * std::min(1.0, update / 10.0), 1.0 / 12);
    optimizer.clear_gradients();
  }
  const Tensor logits = logits_of(model, batch.patches);
  for (Index i = 0; i < 12; ++i) {
    const auto row = logits.values().subspan(i * 3, 3);
    EXPECT_EQ(std::ranges::max_element(row) - row.begin(), batch.classes[i]) << "image " << i;
  }
}

TEST(ImageClassifier, ItsConfigurationIsWrittenAndReadBack) {
  TransformerConfig config = image_config(Pooling::attention);
  config.image_channels = 3;
  EXPECT_EQ(transformer_config_from_json(to_json(config), "config.json"), config);
}

TEST(ImageClassifier, RefusesConfigurationsThatFitNoImage) {
  const auto expect_refused = [](auto change) {
    TransformerConfig config = image_config();
    change(config);
    EXPECT_THROW(ImageClassifier(config, 1), Error);
  };
  expect_refused([](TransformerConfig& c) { c.patch_side = 5; });
  expect_refused([](TransformerConfig& c) { c.image_width = 10; });
  expect_refused([](TransformerConfig& c) { c.image_channels = 2; });
  expect_refused([](TransformerConfig& c) { c.pooling = Pooling::first; });
  expect_refused([](TransformerConfig& c) { c.labels.clear(); });
  expect_refused([](TransformerConfig& c) { c.kind = ModelKind::classifier; });
}

}  // namespace
}  // namespace heed::models
