#include "heed/models/classifier.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/train/optimizer.h"
#include "models/same_gradients.h"
#include "models/small_models.h"
#include "nn/module_parameters.h"
#include "support/same_bits.h"

namespace heed::models {
namespace {

// One for each pooling, with another choice of blocks for each.
std::vector<TransformerConfig> configs() {
  std::vector<TransformerConfig> all(3, small_config(ModelKind::classifier));
  all[0].pooling = Pooling::first;
  all[1].pooling = Pooling::mean;
  all[1].norm_place = NormPlace::before;
  all[2].pooling = Pooling::attention;
  all[2].positions = Positions::alibi;
  return all;
}

Tensor logits_of(const Classifier& model, const std::vector<std::vector<int>>& lines) {
  auto context = nn::ForwardContext::inference();
  return model.logits(infer::pack_sources(lines), context);
}

ClassifierBatch batch_of(const std::vector<std::vector<int>>& lines, std::vector<int> classes) {
  return {infer::pack_sources(lines), std::move(classes)};
}

// So that attention pooling does not begin as a mean.
Classifier shaken(const TransformerConfig& config) {
  Classifier model(config, 1);
  Rng rng(2);
  for (nn::NamedTensor& parameter : nn::named_parameters(model)) {
    for (float& value : parameter.value.values()) value += 0.1f * static_cast<float>(rng.normal());
  }
  return model;
}

TEST(Classifier, NamesItsParametersLikeTheOtherEncoders) {
  TransformerConfig config = small_config(ModelKind::classifier);
  config.pooling = Pooling::attention;
  Classifier model(config, 1);
  const std::vector<std::string> names = nn::parameter_names(model);
  EXPECT_EQ(names.front(), "embedding.weight");
  EXPECT_EQ(std::ranges::count(names, "encoder.1.self_attention.query.weight"), 1);
  EXPECT_EQ((std::vector<std::string>{names.end() - 3, names.end()}),
            (std::vector<std::string>{"pooling.query", "head.weight", "head.bias"}));
}

TEST(Classifier, GivesALogitForEachLabelAndAVectorForEachLine) {
  for (const TransformerConfig& config : configs()) {
    const Classifier model(config, 1);
    const auto lines = sample_sentences({4, 1, 7});
    EXPECT_EQ(logits_of(model, lines).shape(), (Shape{3, 3}));
    auto context = nn::ForwardContext::inference();
    EXPECT_EQ(model.pooled(infer::pack_sources(lines), context).shape(), (Shape{3, 16}));
  }
}

TEST(Classifier, OtherLinesOfTheBatchChangeNothingToTheBit) {
  for (const TransformerConfig& config : configs()) {
    SCOPED_TRACE(to_json(config));
    const Classifier model = shaken(config);
    const auto lines = sample_sentences({6, 1, 30, 11});
    const Tensor together = logits_of(model, lines);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      EXPECT_TRUE(same_bits(logits_of(model, {lines[i]}), rows_of(together, i, 1))) << "line " << i;
    }
  }
}

TEST(Classifier, EveryPoolingSeesEveryToken) {
  for (const TransformerConfig& config : configs()) {
    SCOPED_TRACE(to_json(config));
    const Classifier model = shaken(config);
    auto lines = sample_sentences({5});
    const Tensor before = logits_of(model, lines);
    for (int& id : lines[0]) {
      id = id == 5 ? 6 : 5;
      EXPECT_FALSE(same_bits(logits_of(model, lines), before));
    }
  }
}

TEST(Classifier, LossIsTheWeightedSumOfWhatTheLogitsSay) {
  const Classifier model(small_config(ModelKind::classifier), 1);
  const auto lines = sample_sentences({5, 2, 9});
  const std::vector<int> classes{2, 0, 2};
  const std::vector<float> weights{3, 1, 0.5f};
  auto context = nn::ForwardContext::inference();
  const Loss loss = model.loss(batch_of(lines, classes), context, weights);

  const Tensor logits = logits_of(model, lines);
  double likelihood = 0, smoothed = 0;
  for (Index i = 0; i < 3; ++i) {
    double total = 0, sum = 0;
    for (Index c = 0; c < 3; ++c) {
      total += std::exp(logits.values()[i * 3 + c]);
      sum += logits.values()[i * 3 + c];
    }
    const double right = std::log(total) - logits.values()[i * 3 + classes[i]];
    likelihood += right;
    smoothed += weights[classes[i]] * (0.9 * right + 0.1 * (std::log(total) - sum / 3));
  }
  EXPECT_NEAR(loss.negative_log_likelihood, likelihood, 1e-5 * likelihood);
  EXPECT_NEAR(loss.loss.item(), smoothed, 1e-5 * smoothed);
}

TEST(Classifier, WeightsOfOneAreNoWeights) {
  const Classifier model(small_config(ModelKind::classifier), 1);
  const ClassifierBatch batch = batch_of(sample_sentences({5, 2}), {1, 0});
  auto context = nn::ForwardContext::inference();
  EXPECT_EQ(model.loss(batch, context).loss.item(),
            model.loss(batch, context, std::vector<float>{1, 1, 1}).loss.item());
  EXPECT_THROW(model.loss(batch, context, std::vector<float>{1, 1}), Error);
}

TEST(Classifier, TrainingHasTheSameBitsForAnyNumberOfThreads) {
  for (TransformerConfig config : configs()) {
    config.attention_dropout = 0.1f;
    const ClassifierBatch batch = batch_of(sample_sentences({30, 5, 17}), {0, 1, 2});
    expect_same_gradients_for_any_threads([&] { return shaken(config); }, batch);
  }
}

TEST(Classifier, MemorisesADozenLines) {
  for (TransformerConfig config : configs()) {
    SCOPED_TRACE(name_of(config.pooling));
    config.dropout = config.label_smoothing = 0;
    Classifier model(config, 1);
    const auto lines = sample_sentences({3, 5, 4, 6, 2, 7, 5, 3, 4, 6, 8, 5});
    const std::vector<int> classes{0, 1, 2, 2, 1, 0, 0, 0, 1, 2, 1, 2};
    const ClassifierBatch batch = batch_of(lines, classes);
    train::Optimizer optimizer(nn::named_parameters(model), {});
    for (int update = 1; update <= 80; ++update) {
      auto context = nn::ForwardContext::training(1, update);
      backward(model.loss(batch, context).loss);
      optimizer.step(5e-3 * std::min(1.0, update / 10.0), 1.0 / 12);
      optimizer.clear_gradients();
    }
    const Tensor logits = logits_of(model, lines);
    for (Index i = 0; i < 12; ++i) {
      const auto row = logits.values().subspan(i * 3, 3);
      EXPECT_EQ(std::ranges::max_element(row) - row.begin(), classes[i]) << "line " << i;
    }
  }
}

TEST(Classifier, RefusesAConfigurationOfAnotherKindOrWithoutLabels) {
  EXPECT_THROW(Classifier(small_config(ModelKind::masked), 1), Error);
  TransformerConfig config = small_config(ModelKind::classifier);
  config.labels.clear();
  EXPECT_THROW(Classifier(config, 1), Error);
}

}  // namespace
}  // namespace heed::models
