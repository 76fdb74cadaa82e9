#include "heed/models/masked_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/ops/embedding.h"
#include "heed/train/optimizer.h"
#include "models/same_gradients.h"
#include "models/small_models.h"
#include "nn/module_parameters.h"
#include "support/same_bits.h"

namespace heed::models {
namespace {

constexpr int mask = 4;

std::vector<TransformerConfig> configs() {
  std::vector<TransformerConfig> all;
  for (TransformerConfig config : small_configs()) {
    config.kind = ModelKind::masked;
    config.decoder_layers = 0;
    all.push_back(config);
  }
  return all;
}

Tensor logits_of(const MaskedModel& model, const std::vector<std::vector<int>>& lines) {
  auto context = nn::ForwardContext::inference();
  return model.logits(model.encode(infer::pack_sources(lines), context).values);
}

// Hides the token in the middle of each line.
MaskedBatch batch_of(const std::vector<std::vector<int>>& lines) {
  MaskedBatch batch{infer::pack_sources(lines), {}, {}};
  for (const Span& span : batch.input.spans) {
    batch.places.push_back(span.begin + (span.length - 1) / 2);
    batch.hidden.push_back(std::exchange(batch.input.ids[batch.places.back()], mask));
  }
  return batch;
}

TEST(MaskedModel, NamesItsParametersLikeTheOtherEncoders) {
  MaskedModel tied(small_config(ModelKind::masked), 1);
  const std::vector<std::string> names = nn::parameter_names(tied);
  EXPECT_EQ(names.front(), "embedding.weight");
  EXPECT_TRUE(names.back().starts_with("encoder.1.")) << names.back();
  TransformerConfig config = small_config(ModelKind::masked);
  config.tying = Tying::none;
  MaskedModel untied(config, 1);
  EXPECT_EQ(nn::parameter_names(untied).back(), "output.weight");
}

TEST(MaskedModel, OtherLinesOfTheBatchChangeNothingToTheBit) {
  for (const TransformerConfig& config : configs()) {
    SCOPED_TRACE(to_json(config));
    const MaskedModel model(config, 1);
    const auto lines = sample_sentences({6, 1, 30, 11});
    const Tensor together = logits_of(model, lines);
    Index begin = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const Tensor alone = logits_of(model, {lines[i]});
      EXPECT_TRUE(same_bits(alone, rows_of(together, begin, alone.dim(0)))) << "line " << i;
      begin += alone.dim(0);
    }
  }
}

TEST(MaskedModel, SeesTokensOnBothSidesOfAPlace) {
  const MaskedModel model(small_config(ModelKind::masked), 1);
  auto lines = sample_sentences({7});
  const Tensor before = rows_of(logits_of(model, lines), 3, 1);
  for (const std::size_t place : {0u, 6u}) {
    auto changed = lines;
    changed[0][place] = changed[0][place] == 5 ? 6 : 5;
    EXPECT_FALSE(same_bits(rows_of(logits_of(model, changed), 3, 1), before)) << place;
  }
}

TEST(MaskedModel, LossIsTheSumOverTheMaskedPlacesAlone) {
  const MaskedModel model(small_config(ModelKind::masked), 1);
  const MaskedBatch batch = batch_of(sample_sentences({5, 3}));
  auto context = nn::ForwardContext::inference();
  const Loss loss = model.loss(batch, context);
  const Tensor logits = model.logits(model.encode(batch.input, context).values);
  double likelihood = 0;
  for (std::size_t i = 0; i < batch.places.size(); ++i) {
    const auto row = logits.values().subspan(batch.places[i] * 20, 20);
    double total = 0;
    for (const float logit : row) total += std::exp(logit);
    likelihood += std::log(total) - row[batch.hidden[i]];
  }
  EXPECT_NEAR(loss.negative_log_likelihood, likelihood, 1e-5 * likelihood);
}

TEST(MaskedModel, TrainingHasTheSameBitsForAnyNumberOfThreads) {
  const MaskedBatch batch = batch_of(sample_sentences({30, 5, 17}));
  expect_same_gradients_for_any_threads(
      [&] { return MaskedModel(small_config(ModelKind::masked), 1); }, batch);
}

TEST(MaskedModel, MemorisesWhatWasHiddenInADozenLines) {
  TransformerConfig config = small_config(ModelKind::masked);
  config.model_dim = 32;
  config.feed_forward_dim = 64;
  config.dropout = config.label_smoothing = 0;
  MaskedModel model(config, 1);
  const MaskedBatch batch = batch_of(sample_sentences({3, 5, 4, 6, 2, 7, 5, 3, 4, 6, 8, 5}));
  train::Optimizer optimizer(nn::named_parameters(model), {});
  for (int update = 1; update <= 120; ++update) {
    auto context = nn::ForwardContext::training(1, update);
    backward(model.loss(batch, context).loss);
    optimizer.step(3e-3 * std::min(1.0, update / 20.0), 1.0 / 12);
    optimizer.clear_gradients();
  }
  auto context = nn::ForwardContext::inference();
  const Tensor logits =
      model.logits(ops::gather_rows(model.encode(batch.input, context).values, batch.places));
  for (Index i = 0; i < batch.num_hidden(); ++i) {
    const auto row = logits.values().subspan(i * 20, 20);
    EXPECT_EQ(std::ranges::max_element(row) - row.begin(), batch.hidden[i]) << "line " << i;
  }
}

TEST(MaskedModel, RefusesAConfigurationOfAnotherKind) {
  EXPECT_THROW(MaskedModel(small_config(ModelKind::classifier), 1), Error);
}

}  // namespace
}  // namespace heed::models
