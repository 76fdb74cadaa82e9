// The whole model against the plain reference: the loss, and the gradient of every parameter.
#include <gtest/gtest.h>

#include "heed/models/classifier.h"
#include "heed/models/language_model.h"
#include "heed/models/masked_model.h"
#include "heed/models/tagger.h"
#include "heed/models/translation_model.h"
#include "models/family_configs.h"
#include "support/gradient_check.h"
#include "support/reference_model.h"

namespace heed::models {
namespace {

TransformerConfig tiny_config() {
  TransformerConfig config;
  config.vocabulary = 11;
  config.encoder_layers = 2;
  config.decoder_layers = 2;
  config.model_dim = 12;
  config.feed_forward_dim = 10;
  config.num_heads = 2;
  config.max_positions = 9;
  config.dropout = 0;
  config.label_smoothing = 0.1f;
  return config;
}

// Sequences of 5, 1 and 3 source tokens, and of 4, 6 and 1 target tokens.
TranslationBatch tiny_batch() {
  TranslationBatch batch;
  batch.source = {{4, 9, 4, 2, 1, 1, 7, 3, 1}, Spans::of_lengths(std::vector<Index>{5, 1, 3})};
  batch.target_input = {{1, 5, 6, 5, 1, 10, 8, 8, 0, 2, 1},
                        Spans::of_lengths(std::vector<Index>{4, 6, 1})};
  batch.target_output = {5, 6, 5, 1, 10, 8, 8, 0, 2, 1, 1};
  return batch;
}

// A model whose biases and gains are not all 0 and 1, so that none of them can hide.
template <typename Model>
Model shaken_model(const TransformerConfig& config) {
  Model model(config, 5);
  Rng rng(6);
  for (nn::NamedTensor& parameter : nn::named_parameters(model)) {
    for (float& value : parameter.value.values()) {
      value += 0.2f * static_cast<float>(rng.normal());
    }
  }
  return model;
}

// The reference loss as a function of the parameters, in the order of their names.
template <typename Batch>
auto reference_loss(const TransformerConfig& config, const Batch& batch,
                    const std::vector<std::string>& names) {
  return [=]<typename T>(const reference::Matrices<T>& values) {
    std::map<std::string, reference::Matrix<T>> parameters;
    for (std::size_t i = 0; i < names.size(); ++i) parameters[names[i]] = values[i];
    return reference::TransformerReference<T>(config, parameters).loss(batch);
  };
}

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

template <typename Model, typename Batch>
void expect_matches_reference(const TransformerConfig& config, const Batch& batch,
                              double tolerance = 1e-5) {
  Model model = shaken_model<Model>(config);
  const std::vector<nn::NamedTensor> parameters = nn::named_parameters(model);
  nn::ForwardContext context = nn::ForwardContext::training(1, 1);
  const Tensor loss = model.loss(batch, context).loss;
  const std::vector<double> weight = heed::detail::output_weights(1);
  backward(loss, Tensor::full({}, static_cast<float>(weight[0])));

  std::vector<std::string> names;
  reference::Matrices<double> values;
  for (const nn::NamedTensor& parameter : parameters) {
    names.push_back(parameter.name);
    values.push_back(matrix_of(parameter.value));
  }
  const auto expected = heed::detail::run_reference(reference_loss(config, batch, names), values);
  expect_close(loss, expected.values, tolerance, "loss");

  std::map<std::string, double> sizes;
  for (std::size_t i = 0; i < names.size(); ++i)
    sizes[names[i]] = largest_of(expected.gradients[i]);
  for (std::size_t i = 0; i < names.size(); ++i) {
    // A key's bias adds the same number to all scores of a query, which softmax does not see:
    // unless positions or lengths enter, its gradient is zero but for rounding. So it is measured
    // against the gradient of the matrix beside it.
    const std::string& name = names[i];
    if (name.ends_with(".key.bias") && sizes[name] < 1e-9) {
      const double beside = sizes[name.substr(0, name.size() - 4) + "weight"];
      const std::vector<double> zeros(expected.gradients[i].size(), 0.0);
      expect_close(parameters[i].value.gradient(), zeros, tolerance, name, beside);
      continue;
    }
    expect_close(parameters[i].value.gradient(), expected.gradients[i], tolerance, name);
  }
}

void expect_model_matches_reference(const TransformerConfig& config, double tolerance = 1e-5) {
  expect_matches_reference<TranslationModel>(config, tiny_batch(), tolerance);
}

TransformerConfig tiny_encoder_config(ModelKind kind) {
  TransformerConfig config = tiny_config();
  config.kind = kind;
  config.decoder_layers = 0;
  return config;
}

TEST(ModelGradient, MatchesTheReferenceWithTheNormAfter) {
  expect_model_matches_reference(tiny_config());
}

TEST(ModelGradient, MatchesTheReferenceWithTheNormBefore) {
  TransformerConfig config = tiny_config();
  config.norm_place = NormPlace::before;
  expect_model_matches_reference(config);
}

TEST(ModelGradient, MatchesTheReferenceForEveryPositionScheme) {
  for (const Positions positions : {Positions::sinusoidal, Positions::learned, Positions::rotary,
                                    Positions::alibi, Positions::none}) {
    SCOPED_TRACE(static_cast<int>(positions));
    TransformerConfig config = tiny_config();
    config.positions = positions;
    expect_model_matches_reference(config);
  }
}

TEST(ModelGradient, MatchesTheReferenceForEveryActivationAndNorm) {
  for (const Activation activation : {Activation::relu, Activation::gelu, Activation::swiglu}) {
    for (const NormKind norm : {NormKind::layer, NormKind::rms}) {
      SCOPED_TRACE(static_cast<int>(activation));
      TransformerConfig config = tiny_config();
      config.activation = activation;
      config.norm_kind = norm;
      config.norm_place = NormPlace::before;
      expect_model_matches_reference(config);
    }
  }
}

TEST(ModelGradient, MatchesTheReferenceForEverySimilarity) {
  for (const auto similarity :
       {ops::Similarity::dot, ops::Similarity::cosine, ops::Similarity::scaled_dot}) {
    SCOPED_TRACE(name_of(similarity));
    TransformerConfig config = tiny_config();
    config.similarity = similarity;
    // Cosines are multiplied by 10 before the softmax, and their gradient is what is left of a
    // vector without its own direction: both make rounding larger beside the result.
    expect_model_matches_reference(config, similarity == ops::Similarity::cosine ? 5e-5 : 1e-5);
  }
}

TEST(ModelGradient, MatchesTheReferenceWithSharedHeadsAndSeparateTables) {
  for (const Tying tying : {Tying::none, Tying::target, Tying::all}) {
    SCOPED_TRACE(static_cast<int>(tying));
    TransformerConfig config = tiny_config();
    config.tying = tying;
    config.num_heads = 3;
    config.num_key_value_heads = 1;
    expect_model_matches_reference(config);
  }
}

TEST(ModelGradient, OfALanguageModelMatchesTheReferenceWithAndWithoutPrompts) {
  const PackedIds input = tiny_batch().source;
  for (const LanguageBatch& batch : {LanguageBatch{input, {9, 4, 2, 1, 5, 7, 3, 6, 0}},
                                     LanguageBatch{input, {2, 1, 5, 6}, {2, 3, 4, 7}}}) {
    for (const Tying tying : {Tying::none, Tying::all}) {
      TransformerConfig config = tiny_config();
      config.kind = ModelKind::language;
      config.encoder_layers = 0;
      config.tying = tying;
      expect_matches_reference<LanguageModel>(config, batch);
    }
  }
}

TEST(ModelGradient, OfAClassifierMatchesTheReferenceForEveryPooling) {
  const ClassifierBatch batch{tiny_batch().source, {2, 0, 1}};
  for (const Choice<Pooling>& pooling : choices<Pooling>()) {
    for (const NormPlace place : {NormPlace::before, NormPlace::after}) {
      SCOPED_TRACE(pooling.name);
      TransformerConfig config = tiny_encoder_config(ModelKind::classifier);
      config.labels = {"cold", "mild", "warm"};
      config.pooling = pooling.value;
      config.norm_place = place;
      expect_matches_reference<Classifier>(config, batch);
    }
  }
}

TEST(ModelGradient, OfSeveralLabelsAndOfNumbersMatchesTheReference) {
  const PackedIds lines = tiny_batch().source;
  TransformerConfig config = tiny_encoder_config(ModelKind::classifier);
  config.labels = {"cold", "mild", "warm"};
  config.problem_type = ProblemType::multi_label;
  for (const float smoothing : {0.0f, 0.2f}) {
    config.label_smoothing = smoothing;
    const Tensor targets = Tensor::from({1, 0, 1, 0, 0, 0, 0, 1, 0}, {3, 3});
    expect_matches_reference<Classifier>(config, ClassifierBatch{lines, {}, targets});
  }
  config.labels = {"score"};
  config.problem_type = ProblemType::regression;
  config.label_smoothing = 0;
  const Tensor numbers = Tensor::from({-1.5f, 0.25f, 2}, {3, 1});
  expect_matches_reference<Classifier>(config, ClassifierBatch{lines, {}, numbers});
}

TEST(ModelGradient, OfAMaskedModelMatchesTheReferenceTiedAndNot) {
  const MaskedBatch batch{tiny_batch().source, {1, 3, 5, 6}, {8, 2, 10, 8}};
  for (const Tying tying : {Tying::none, Tying::all}) {
    TransformerConfig config = tiny_encoder_config(ModelKind::masked);
    config.tying = tying;
    expect_matches_reference<MaskedModel>(config, batch);
  }
}

TEST(ModelGradient, OfATaggerMatchesTheReferenceWhetherAWordHasOneTokenOrMore) {
  const TaggerBatch batch{tiny_batch().source, {0, 1, 3, 5, 7}, {2, 0, 1, 1, 2}};
  for (const NormPlace place : {NormPlace::before, NormPlace::after}) {
    TransformerConfig config = tiny_encoder_config(ModelKind::tagger);
    config.labels = {"O", "B-LOC", "I-LOC"};
    config.norm_place = place;
    expect_matches_reference<Tagger>(config, batch);
  }
}

// With tokens of both types where a model has them.
PackedIds typed_source() {
  PackedIds source = tiny_batch().source;
  source.types = {0, 0, 0, 1, 1, 0, 0, 1, 1};
  return source;
}

TEST(ModelGradient, OfOtherFamiliesEncodersMatchesTheReference) {
  const MaskedBatch masked{typed_source(), {1, 3, 5, 6}, {8, 2, 10, 8}};
  for (const auto& config : {bert_config(ModelKind::masked), albert_config(ModelKind::masked)}) {
    expect_matches_reference<MaskedModel>(config, masked, 3e-5);
  }
  MaskedBatch one_type = masked;
  one_type.input.types.clear();
  expect_matches_reference<MaskedModel>(roberta_config(ModelKind::masked), one_type, 3e-5);

  const ClassifierBatch lines{typed_source(), {2, 0, 1}};
  for (const HeadLayer layer :
       {HeadLayer::none, HeadLayer::tanh, HeadLayer::relu, HeadLayer::gelu}) {
    for (TransformerConfig config :
         {bert_config(ModelKind::classifier), albert_config(ModelKind::classifier)}) {
      SCOPED_TRACE(to_json(config));
      config.head_layer = layer;
      expect_matches_reference<Classifier>(config, lines, 3e-5);
    }
  }
  const TaggerBatch words{typed_source(), {0, 1, 3, 5, 7}, {2, 0, 1, 1, 2}};
  expect_matches_reference<Tagger>(bert_config(ModelKind::tagger), words, 3e-5);
}

TEST(ModelGradient, OfOtherFamiliesLanguageModelsMatchesTheReference) {
  const LanguageBatch batch{tiny_batch().source, {9, 4, 2, 1, 5, 7, 3, 6, 0}};
  for (const auto& config : {gpt2_config(), opt_config(), gemma2_config(), phi_config()}) {
    SCOPED_TRACE(to_json(config));
    expect_matches_reference<LanguageModel>(config, batch, 3e-5);
  }
}

TEST(ModelGradient, OfOtherFamiliesTranslationMatchesTheReference) {
  expect_model_matches_reference(t5_config(), 3e-5);
  TranslationBatch batch = tiny_batch();
  batch.source.ids[1] = 12;  // of the source's own vocabulary
  expect_matches_reference<TranslationModel>(marian_config(), batch, 3e-5);
}

TEST(ModelGradient, TheReferenceHasTheRightGradient) {
  TransformerConfig config = tiny_config();
  config.encoder_layers = config.decoder_layers = 1;
  config.model_dim = 4;
  config.feed_forward_dim = 3;
  for (const NormPlace place : {NormPlace::before, NormPlace::after}) {
    config.norm_place = place;
    auto model = shaken_model<TranslationModel>(config);
    std::vector<std::string> names;
    Inputs values;
    for (const nn::NamedTensor& parameter : nn::named_parameters(model)) {
      // See above: a key's bias has no gradient of its own, only rounding.
      if (parameter.name.ends_with(".key.bias")) continue;
      names.push_back(parameter.name);
      values.push_back(parameter.value);
    }
    const auto without_key_bias = [&]<typename T>(const reference::Matrices<T>& in) {
      std::map<std::string, reference::Matrix<T>> parameters;
      for (std::size_t i = 0; i < names.size(); ++i) parameters[names[i]] = in[i];
      for (const std::string& name : names) {
        if (!name.ends_with(".key.weight")) continue;
        parameters[name.substr(0, name.size() - 6) + "bias"] =
            reference::Matrix<T>(1, parameters[name].rows);
      }
      return reference::TransformerReference<T>(config, parameters).loss(tiny_batch());
    };
    expect_gradient_is_right(without_key_bias, values);
  }
}

}  // namespace
}  // namespace heed::models
