#include "heed/models/tagger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/train/optimizer.h"
#include "models/same_gradients.h"
#include "models/small_models.h"
#include "nn/module_parameters.h"
#include "support/same_bits.h"

namespace heed::models {
namespace {

std::vector<TransformerConfig> configs() {
  std::vector<TransformerConfig> all;
  for (TransformerConfig config : small_configs()) {
    config.kind = ModelKind::tagger;
    config.decoder_layers = 0;
    config.labels = {"O", "B-LOC", "I-LOC"};
    all.push_back(config);
  }
  return all;
}

// Every other token begins a word, whose tag is the remainder of that token.
TaggerBatch batch_of(const std::vector<std::vector<int>>& lines) {
  TaggerBatch batch{infer::pack_sources(lines), {}, {}};
  for (const Span& span : batch.input.spans) {
    for (Index token = 0; token < span.length - 1; token += 2) {
      batch.places.push_back(span.begin + token);
      batch.tags.push_back(batch.input.ids[batch.places.back()] % 3);
    }
  }
  return batch;
}

Tensor logits_of(const Tagger& model, const TaggerBatch& batch) {
  auto context = nn::ForwardContext::inference();
  return model.logits(batch.input, batch.places, context);
}

TEST(Tagger, NamesItsParametersLikeTheOtherEncoders) {
  Tagger model(small_config(ModelKind::tagger), 1);
  const std::vector<std::string> names = nn::parameter_names(model);
  EXPECT_EQ(names.front(), "embedding.weight");
  EXPECT_TRUE(names[1].starts_with("encoder.0.")) << names[1];
  EXPECT_EQ(names[names.size() - 2], "head.weight");
  EXPECT_EQ(names.back(), "head.bias");
}

TEST(Tagger, OtherLinesOfTheBatchChangeNothingToTheBit) {
  for (const TransformerConfig& config : configs()) {
    SCOPED_TRACE(to_json(config));
    const Tagger model(config, 1);
    const auto lines = sample_sentences({6, 1, 30, 11});
    const Tensor together = logits_of(model, batch_of(lines));
    Index begin = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const Tensor alone = logits_of(model, batch_of({lines[i]}));
      EXPECT_TRUE(same_bits(alone, rows_of(together, begin, alone.dim(0)))) << "line " << i;
      begin += alone.dim(0);
    }
  }
}

TEST(Tagger, SeesTheTokensOnBothSidesOfAWord) {
  const Tagger model(small_config(ModelKind::tagger), 1);
  auto lines = sample_sentences({7});
  const Tensor before = rows_of(logits_of(model, batch_of(lines)), 1, 1);
  for (const std::size_t place : {0u, 3u, 6u}) {
    auto changed = lines;
    changed[0][place] = changed[0][place] == 5 ? 6 : 5;
    EXPECT_FALSE(same_bits(rows_of(logits_of(model, batch_of(changed)), 1, 1), before)) << place;
  }
}

TEST(Tagger, LossIsTheWeightedSumOverTheFirstTokensAlone) {
  const Tagger model(small_config(ModelKind::tagger), 1);
  const TaggerBatch batch = batch_of(sample_sentences({5, 3}));
  const std::vector<float> weights{3, 1, 0.5f};
  auto context = nn::ForwardContext::inference();
  const Loss loss = model.loss(batch, context, weights);
  const Tensor logits = logits_of(model, batch);
  ASSERT_EQ(logits.shape(), (Shape{5, 3}));
  double likelihood = 0, smoothed = 0;
  for (Index i = 0; i < 5; ++i) {
    const auto row = logits.values().subspan(3 * i, 3);
    double total = 0, sum = 0;
    for (const float logit : row) total += std::exp(logit), sum += logit;
    const double right = std::log(total) - row[batch.tags[i]];
    likelihood += right;
    smoothed += weights[batch.tags[i]] * (0.9 * right + 0.1 * (std::log(total) - sum / 3));
  }
  EXPECT_NEAR(loss.negative_log_likelihood, likelihood, 1e-5 * likelihood);
  EXPECT_NEAR(loss.loss.item(), smoothed, 1e-5 * smoothed);
}

TEST(Tagger, TrainingHasTheSameBitsForAnyNumberOfThreads) {
  expect_same_gradients_for_any_threads([] { return Tagger(small_config(ModelKind::tagger), 1); },
                                        batch_of(sample_sentences({30, 5, 17})));
}

TEST(Tagger, MemorisesTheTagsOfADozenLines) {
  TransformerConfig config = small_config(ModelKind::tagger);
  config.model_dim = 32;
  config.feed_forward_dim = 64;
  config.dropout = config.label_smoothing = 0;
  Tagger model(config, 1);
  TaggerBatch batch = batch_of(sample_sentences({3, 5, 4, 6, 2, 7, 5, 3, 4, 6, 8, 5}));
  Rng rng(3);
  for (int& tag : batch.tags) tag = static_cast<int>(rng.below(3));
  train::Optimizer optimizer(nn::named_parameters(model), {});
  for (int update = 1; update <= 150; ++update) {
    auto context = nn::ForwardContext::training(1, update);
    backward(model.loss(batch, context).loss);
    optimizer.step(3e-3 * std::min(1.0, update / 20.0), 1.0 / 30);
    optimizer.clear_gradients();
  }
  const Tensor logits = logits_of(model, batch);
  for (Index i = 0; i < batch.num_words(); ++i) {
    const auto row = logits.values().subspan(3 * i, 3);
    EXPECT_EQ(std::ranges::max_element(row) - row.begin(), batch.tags[i]) << "word " << i;
  }
}

TEST(Tagger, RefusesAConfigurationOfAnotherKindOrWithoutTags) {
  EXPECT_THROW(Tagger(small_config(ModelKind::masked), 1), Error);
  TransformerConfig config = small_config(ModelKind::tagger);
  config.labels.clear();
  EXPECT_THROW(Tagger(config, 1), Error);
}

}  // namespace
}  // namespace heed::models
