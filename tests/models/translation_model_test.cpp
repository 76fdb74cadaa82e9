#include "heed/models/translation_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/infer/beam_search.h"
#include "heed/models/model_folder.h"
#include "heed/text/tokenizer.h"
#include "heed/train/optimizer.h"
#include "models/same_gradients.h"
#include "models/small_models.h"
#include "support/expect_error.h"
#include "support/same_bits.h"

namespace heed::models {
namespace {

constexpr int end_token = text::own_tokens::end;

std::vector<std::string> names_of(TranslationModel model) {
  std::vector<std::string> names;
  for (const nn::NamedTensor& parameter : nn::named_parameters(model)) {
    names.push_back(parameter.name);
  }
  return names;
}

TranslationBatch batch_of(const std::vector<std::vector<int>>& sources,
                          const std::vector<std::vector<int>>& targets) {
  TranslationBatch batch{infer::pack_sources(sources), infer::pack_targets(targets), {}};
  batch.target_output = infer::pack_sources(targets).ids;
  return batch;
}

TEST(TranslationModel, NamesItsParameters) {
  const std::vector<std::string> names = names_of(TranslationModel(small_config(), 1));
  EXPECT_EQ(names.front(), "embedding.weight");
  for (const char* name :
       {"encoder.0.self_attention.query.weight", "encoder.1.feed_forward_norm.gain",
        "decoder.1.cross_attention.query.weight", "decoder.0.cross_attention_norm.bias",
        "decoder.1.feed_forward.output.bias"}) {
    EXPECT_EQ(std::ranges::count(names, name), 1) << name;
  }
  std::vector<std::string> sorted = names;
  std::ranges::sort(sorted);
  EXPECT_EQ(std::ranges::adjacent_find(sorted), sorted.end()) << "a name occurs twice";
}

TEST(TranslationModel, VisitsATiedTableOnce) {
  const auto tables = [](Tying tying) {
    TransformerConfig config = small_config();
    config.tying = tying;
    std::vector<std::string> found;
    for (const std::string& name : names_of(TranslationModel(config, 1))) {
      if (!name.starts_with("encoder") && !name.starts_with("decoder")) found.push_back(name);
    }
    return found;
  };
  EXPECT_EQ(tables(Tying::all), (std::vector<std::string>{"embedding.weight"}));
  EXPECT_EQ(tables(Tying::target),
            (std::vector<std::string>{"source_embedding.weight", "target_embedding.weight"}));
  EXPECT_EQ(tables(Tying::none),
            (std::vector<std::string>{"source_embedding.weight", "target_embedding.weight",
                                      "output.weight"}));
}

TEST(TranslationModel, EqualSeedsGiveEqualWeightsAndOthersOthers) {
  TranslationModel a(small_config(), 1), b(small_config(), 1), c(small_config(), 2);
  const auto first = [](TranslationModel& model) { return nn::named_parameters(model)[1].value; };
  EXPECT_TRUE(same_bits(first(a), first(b)));
  EXPECT_FALSE(same_bits(first(a), first(c)));
}

TEST(TranslationModel, ALaterTokenDoesNotChangeEarlierLogits) {
  for (const TransformerConfig& config : small_configs()) {
    SCOPED_TRACE(to_json(config));
    const TranslationModel model(config, 1);
    const auto sources = sample_sentences({6});
    auto targets = sample_sentences({9}, 2);
    const Tensor before = all_logits(model, sources, targets);
    targets[0][6] = targets[0][6] == 5 ? 6 : 5;
    const Tensor after = all_logits(model, sources, targets);
    // Token 6 is read at position 7, behind the end token.
    EXPECT_TRUE(same_bits(rows_of(before, 0, 7), rows_of(after, 0, 7)));
    EXPECT_FALSE(same_bits(rows_of(before, 7, 1), rows_of(after, 7, 1)));
  }
}

TEST(TranslationModel, OtherSentencesOfTheBatchChangeNothingToTheBit) {
  for (const TransformerConfig& config : small_configs()) {
    SCOPED_TRACE(to_json(config));
    const TranslationModel model(config, 1);
    const auto sources = sample_sentences({6, 1, 30, 11});
    const auto targets = sample_sentences({4, 8, 40, 1}, 2);
    const Tensor together = all_logits(model, sources, targets);
    Index begin = 0;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const Tensor alone = all_logits(model, {sources[i]}, {targets[i]});
      EXPECT_TRUE(same_bits(alone, rows_of(together, begin, alone.dim(0)))) << "sentence " << i;
      begin += alone.dim(0);
    }
  }
}

TEST(TranslationModel, DecodingWithTheCacheEqualsDecodingWithoutToTheBit) {
  for (const TransformerConfig& config : small_configs()) {
    SCOPED_TRACE(to_json(config));
    const TranslationModel model(config, 1);
    const auto sources = sample_sentences({6, 3});
    const auto targets = sample_sentences({40, 40}, 2);
    const Tensor whole = all_logits(model, sources, targets);

    auto context = nn::ForwardContext::inference();
    const Packed memory = model.encode(infer::pack_sources(sources), context);
    nn::StackCache state = model.start(memory, std::vector<Index>{1, 1});
    for (Index t = 0; t <= 40; ++t) {
      const std::vector<int> ids{t == 0 ? end_token : targets[0][t - 1],
                                 t == 0 ? end_token : targets[1][t - 1]};
      const Tensor logits = model.logits(model.step(ids, state, context));
      ASSERT_TRUE(same_bits(rows_of(logits, 0, 1), rows_of(whole, t, 1))) << "step " << t;
      ASSERT_TRUE(same_bits(rows_of(logits, 1, 1), rows_of(whole, 41 + t, 1))) << "step " << t;
    }
  }
}

TEST(TranslationModel, ReorderedRowsContinueAsTheHypothesesThatTheyWere) {
  const TranslationModel model(small_config(), 1);
  const auto sources = sample_sentences({6, 3});
  auto context = nn::ForwardContext::inference();
  const Packed memory = model.encode(infer::pack_sources(sources), context);
  nn::StackCache state = model.start(memory, std::vector<Index>{1, 1});
  model.step(std::vector<int>{end_token, end_token}, state, context);
  state.reorder(std::vector<Index>{1, 1, 0});
  model.step(std::vector<int>{5, 6, 7}, state, context);
  state.reorder(std::vector<Index>{2, 1});
  const Tensor logits = model.logits(model.step(std::vector<int>{8, 9}, state, context));

  EXPECT_TRUE(
      same_bits(rows_of(logits, 0, 1), rows_of(all_logits(model, {sources[0]}, {{7, 8}}), 2, 1)));
  EXPECT_TRUE(
      same_bits(rows_of(logits, 1, 1), rows_of(all_logits(model, {sources[1]}, {{6, 9}}), 2, 1)));
}

TEST(TranslationModel, LossIsTheSumOfWhatTheLogitsSay) {
  const TranslationModel model(small_config(), 1);
  const auto sources = sample_sentences({5, 2});
  const auto targets = sample_sentences({3, 6}, 2);
  const TranslationBatch batch = batch_of(sources, targets);
  auto context = nn::ForwardContext::inference();
  const Loss loss = model.loss(batch, context);

  const Tensor logits = all_logits(model, sources, targets);
  double likelihood = 0, smoothed = 0;
  for (Index i = 0; i < batch.num_target_tokens(); ++i) {
    double total = 0, sum = 0;
    for (Index v = 0; v < 20; ++v) {
      total += std::exp(logits.values()[i * 20 + v]);
      sum += logits.values()[i * 20 + v];
    }
    const double right = std::log(total) - logits.values()[i * 20 + batch.target_output[i]];
    likelihood += right;
    smoothed += 0.9 * right + 0.1 * (std::log(total) - sum / 20);
  }
  EXPECT_NEAR(loss.negative_log_likelihood, likelihood, 1e-5 * likelihood);
  EXPECT_NEAR(loss.loss.item(), smoothed, 1e-5 * smoothed);
}

TEST(TranslationModel, TrainingHasTheSameBitsForAnyNumberOfThreads) {
  TransformerConfig config = small_config();
  config.attention_dropout = config.activation_dropout = 0.1f;
  const TranslationBatch batch =
      batch_of(sample_sentences({30, 5, 17}), sample_sentences({20, 9, 28}, 2));
  expect_same_gradients_for_any_threads([&] { return TranslationModel(config, 1); }, batch);
}

TEST(TranslationModel, MemorisesADozenSentences) {
  TransformerConfig config = small_config();
  config.model_dim = 32;
  config.feed_forward_dim = 64;
  config.dropout = 0;
  config.label_smoothing = 0;
  TranslationModel model(config, 1);
  const auto sources = sample_sentences({3, 5, 4, 6, 2, 7, 5, 3, 4, 6, 8, 5});
  const auto targets = sample_sentences({4, 5, 3, 6, 3, 7, 4, 5, 2, 6, 8, 4}, 2);
  const TranslationBatch batch = batch_of(sources, targets);

  train::Optimizer optimizer(nn::named_parameters(model), {});
  for (int update = 1; update <= 150; ++update) {
    auto context = nn::ForwardContext::training(1, update);
    backward(model.loss(batch, context).loss);
    optimizer.step(3e-3 * std::min(1.0, update / 20.0), 1.0 / batch.num_target_tokens());
    optimizer.clear_gradients();
  }
  const auto found = infer::beam_search(model, infer::pack_sources(sources));
  for (std::size_t i = 0; i < sources.size(); ++i) {
    EXPECT_EQ(found[i].front().ids, targets[i]) << "sentence " << i;
  }
}

TEST(TranslationModel, PackedGivesTheSameBitsAndCannotBeTrained) {
  const auto sources = sample_sentences({5, 9}), targets = sample_sentences({4, 7}, 2);
  for (const TransformerConfig& config : small_configs()) {
    SCOPED_TRACE(to_json(config));
    const TranslationModel model(config, 3), packed = pack(model);
    EXPECT_TRUE(packed.is_packed());
    EXPECT_FALSE(model.is_packed());
    const Tensor expected = all_logits(model, sources, targets);
    EXPECT_TRUE(same_bits(all_logits(packed, sources, targets), expected));
    auto context = nn::ForwardContext::inference();
    {
      const NoGrad no_grad;  // now the packed weights do the work
      EXPECT_TRUE(same_bits(all_logits(packed, sources, targets), expected));
    }
    EXPECT_THROW(backward(packed.loss(batch_of(sources, targets), context).loss), Error);
    EXPECT_NO_THROW(backward(model.loss(batch_of(sources, targets), context).loss));
  }
}

TEST(TranslationModel, PackedKeepsTheWeightsOfItsMoment) {
  const auto sources = sample_sentences({5}), targets = sample_sentences({4});
  const NoGrad no_grad;
  TranslationModel model(small_config(), 3);
  const TranslationModel packed = pack(model);
  const Tensor before = all_logits(model, sources, targets);
  for (nn::NamedTensor& parameter : nn::named_parameters(model)) {
    if (parameter.name.ends_with("query.weight")) parameter.value.values()[0] += 1;
  }
  EXPECT_TRUE(same_bits(all_logits(packed, sources, targets), before));
  EXPECT_FALSE(same_bits(all_logits(model, sources, targets), before));
}

// A model of floats with the values that the quantized weights stand for.
TranslationModel dequantize(const TranslationModel& quantized) {
  TransformerConfig config = quantized.config();
  config.weights = WeightFormat::f32;
  TranslationModel floats(config, 1);
  std::vector<nn::NamedTensor> to = nn::named_parameters(floats);
  const std::vector<nn::NamedTensor> from = parameters(quantized);
  for (std::size_t i = 0; i < to.size(); ++i) {
    EXPECT_EQ(to[i].name, from[i].name);
    std::ranges::copy(from[i].value.values(), to[i].value.data());
  }
  return floats;
}

TEST(TranslationModel, QuantizedGivesTheBitsOfItsDequantizedWeights) {
  const auto sources = sample_sentences({5, 9}), targets = sample_sentences({4, 7}, 2);
  const TranslationBatch batch = batch_of(sources, targets);
  for (const TransformerConfig& config : small_configs()) {
    for (const WeightFormat format : quantized_formats) {
      SCOPED_TRACE(testing::Message() << name_of(format) << ' ' << to_json(config));
      const TranslationModel quantized = quantize(TranslationModel(config, 3), format);
      EXPECT_EQ(quantized.config().weights, format);
      EXPECT_TRUE(quantized.is_packed());
      const TranslationModel floats = dequantize(quantized);
      const Tensor expected = all_logits(floats, sources, targets);
      EXPECT_TRUE(same_bits(all_logits(quantized, sources, targets), expected));
      EXPECT_TRUE(same_bits(all_logits(pack(quantized), sources, targets), expected));
      auto context = nn::ForwardContext::inference();
      EXPECT_EQ(quantized.loss(batch, context).negative_log_likelihood,
                floats.loss(batch, context).negative_log_likelihood);
    }
  }
}

TEST(TranslationModel, QuantizedWeightsAreNearTheFloats) {
  const auto sources = sample_sentences({5, 9}), targets = sample_sentences({4, 7}, 2);
  const TranslationModel model(small_config(), 3);
  const Tensor expected = all_logits(model, sources, targets);
  const auto largest_error = [&](WeightFormat format) {
    const Tensor found = all_logits(quantize(model, format), sources, targets);
    float largest = 0;
    for (Index i = 0; i < found.size(); ++i) {
      largest = std::max(largest, std::abs(found.values()[i] - expected.values()[i]));
    }
    return largest;
  };
  EXPECT_LT(largest_error(WeightFormat::f16), 0.005f);
  EXPECT_LT(largest_error(WeightFormat::bf16), 0.04f);
  EXPECT_LT(largest_error(WeightFormat::int8), 0.04f);
  EXPECT_LT(largest_error(WeightFormat::int4), 0.8f);
}

TEST(TranslationModel, QuantizedCannotBeTrained) {
  const auto sources = sample_sentences({5}), targets = sample_sentences({4});
  TranslationModel quantized = quantize(TranslationModel(small_config(), 3), WeightFormat::int8);
  expect_error(ErrorKind::failed,
               "embedding.weight: expected floats, which can be trained, found a "
               "quantized weight",
               [&] { nn::named_parameters(quantized); });
  auto context = nn::ForwardContext::training(1, 1);
  EXPECT_THROW(backward(quantized.loss(batch_of(sources, targets), context).loss), Error);
  EXPECT_THROW(TranslationModel(quantized.config(), 1), Error);
  EXPECT_THROW(quantize(quantized, WeightFormat::f32), Error);
}

}  // namespace
}  // namespace heed::models
