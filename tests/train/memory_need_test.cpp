#include "heed/train/memory_need.h"

#include <gtest/gtest.h>

#include <utility>

#include "heed/base/error.h"
#include "heed/core/storage.h"
#include "heed/models/classifier.h"
#include "heed/models/language_model.h"
#include "models/small_models.h"
#include "support/expect_error.h"

namespace heed::train {
namespace {

TEST(MemoryNeed, CountsGradientsMomentsAndTheMovingAverage) {
  TrainingOptions options;
  EXPECT_EQ(optimizer_bytes(1000, options), 12000);
  options.ema = 0.9;
  EXPECT_EQ(optimizer_bytes(1000, options), 16000);
}

TEST(MemoryNeed, RefusesWhatDoesNotFitWithItsSize) {
  EXPECT_NO_THROW(check_memory(1000, "weights", 1000));
  EXPECT_NO_THROW(check_memory(Index{1} << 60, "weights", std::nullopt));
  expect_error(ErrorKind::failed, "training: expected 41.3 GB of memory for weights, found 22.0 GB",
               [] { check_memory(41'300'000'000, "weights", 22'000'000'000); });
}

TEST(MemoryNeed, OfAModelIsKnownBeforeItIsMade) {
  models::TransformerConfig config;
  config.vocabulary = 100;
  const Index count = models::num_parameters(config);
  TrainingOptions options;
  EXPECT_NO_THROW(check_memory_for(config, options, 16 * count));
  EXPECT_THROW(check_memory_for(config, options, 16 * count - 1), Error);
  options.freeze = "encoder";  // of which there are no gradients
  EXPECT_NO_THROW(check_memory_for(config, options, 4 * count));
  EXPECT_THROW(check_memory_for(config, options, 4 * count - 1), Error);
}

// Bytes of tensors that the loss of a batch keeps alive.
template <typename Model, typename Batch>
Index kept_bytes(const models::TransformerConfig& config, const Batch& batch) {
  const Model model(config, /*seed=*/1);
  auto context = nn::ForwardContext::training(/*seed=*/1, /*step=*/0);
  model.loss(batch, context);  // tables that are computed once stay
  const Index before = tensor_bytes();
  const auto loss = model.loss(batch, context);
  return tensor_bytes() - before;
}

// No more than a run needs, so that none is refused that fits; and most of it.
void expect_most_of(Index kept, Index estimate) {
  EXPECT_LE(estimate, kept);
  EXPECT_GE(static_cast<double>(estimate), 0.85 * static_cast<double>(kept));
}

std::vector<models::TransformerConfig> wide_configs() {
  std::vector<models::TransformerConfig> configs = models::small_configs();
  for (models::TransformerConfig& config : configs) {
    config.model_dim = 64;
    config.feed_forward_dim = 128;
  }
  return configs;
}

TEST(ActivationBytes, AreMostOfWhatTheLossOfATranslationKeeps) {
  const auto sources = models::sample_sentences({40, 60});
  const auto targets = models::sample_sentences({50, 30});
  for (models::TransformerConfig config : wide_configs()) {
    for (const float dropout : {0.0f, 0.1f}) {
      SCOPED_TRACE(models::to_json(config));
      config.dropout = dropout;
      models::TranslationBatch batch;
      batch.source = infer::pack_sources(sources);
      batch.target_input = infer::pack_targets(targets);
      batch.target_output.assign(batch.target_input.ids.size(), 5);
      const Index kept = kept_bytes<models::TranslationModel>(config, batch);
      expect_most_of(kept, activation_bytes(config, std::ssize(batch.source.ids),
                                            std::ssize(batch.target_input.ids)));
    }
  }
}

TEST(ActivationBytes, OfADecoderOrAnEncoderAloneAreThoseOfItsTokens) {
  const models::PackedIds ids = infer::pack_sources(models::sample_sentences({40, 60}));
  const Index count = std::ssize(ids.ids);
  for (models::TransformerConfig config : wide_configs()) {
    SCOPED_TRACE(models::to_json(config));
    config.kind = models::ModelKind::language;
    config.encoder_layers = 0;
    const models::LanguageBatch text{ids, std::vector<int>(ids.ids.size(), 5)};
    expect_most_of(kept_bytes<models::LanguageModel>(config, text),
                   activation_bytes(config, 0, count));
    const models::LanguageBatch answers{ids, {5, 6, 7}, {10, 50, 90}};
    expect_most_of(kept_bytes<models::LanguageModel>(config, answers),
                   activation_bytes(config, count, 3));
    config.kind = models::ModelKind::classifier;
    config.encoder_layers = std::exchange(config.decoder_layers, 0);
    config.labels = {"cold", "warm"};
    const models::ClassifierBatch lines{ids, {0, 1}};
    expect_most_of(kept_bytes<models::Classifier>(config, lines),
                   activation_bytes(config, count, 2));
  }
}

}  // namespace
}  // namespace heed::train
