// Models of other families' forms: what holds for our own holds for them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heed/base/random.h"
#include "heed/models/model_folder.h"
#include "heed/models/model_kinds.h"
#include "heed/ops/argmax_projection.h"
#include "models/family_configs.h"
#include "models/same_gradients.h"
#include "nn/module_parameters.h"
#include "support/expect_error.h"
#include "support/same_bits.h"
#include "support/sample.h"
#include "support/temporary_folder.h"

namespace heed::models {
namespace {

using Sequences = std::vector<std::vector<int>>;

const Sequences sequences{{4, 9, 4, 2, 1}, {7}, {10, 3, 5, 5, 6, 0, 8}};

// Tokens of pairs: the second half of each sequence has type 1 where a model has types.
PackedIds packed(const Sequences& some, const TransformerConfig& config) {
  std::vector<std::vector<int>> types;
  std::vector<TokenSequence> parts;
  for (const std::vector<int>& ids : some) {
    types.emplace_back(ids.size(), 0);
    if (config.token_types < 2) continue;
    std::fill(types.back().begin() + std::ssize(ids) / 2, types.back().end(), 1);
  }
  for (std::size_t s = 0; s < some.size(); ++s) parts.push_back({some[s], types[s]});
  return pack(parts);
}

// Biases and gains are not all 0 and 1, so that none of them can hide.
template <typename Model>
Model shaken(const TransformerConfig& config) {
  Model model(config, 5);
  Rng rng(6);
  for (nn::NamedTensor& parameter : nn::named_parameters(model)) {
    for (float& value : parameter.value.values()) {
      value += 0.2f * static_cast<float>(rng.normal());
    }
  }
  return model;
}

nn::ForwardContext inference() { return nn::ForwardContext::inference(); }

// What each class makes of whole sequences: one row of results for each token or sequence.
Tensor results(const MaskedModel& model, const Sequences& some) {
  auto context = inference();
  return model.logits(model.encode(packed(some, model.config()), context).values);
}
Tensor results(const Classifier& model, const Sequences& some) {
  auto context = inference();
  return model.logits(packed(some, model.config()), context);
}
Tensor results(const Tagger& model, const Sequences& some) {
  auto context = inference();
  const PackedIds input = packed(some, model.config());
  std::vector<Index> places;
  for (Index row = 0; row < std::ssize(input.ids); ++row) places.push_back(row);
  return model.logits(input, places, context);
}
Tensor results(const Encoder& model, const Sequences& some) {
  auto context = inference();
  return model.pooled(packed(some, model.config()), context);
}
Tensor results(const LanguageModel& model, const Sequences& some) {
  auto context = inference();
  return model.logits(model.hidden(packed(some, model.config()), context));
}
Tensor results(const TranslationModel& model, const Sequences& some) {
  auto context = inference();
  const PackedIds input = packed(some, model.config());
  return model.logits(model.decode(input, model.encode(input, context), context));
}
// The number of a sequence stands for an image.
Tensor results(const ImageClassifier& model, const Sequences& some) {
  auto context = inference();
  const Index rows = num_patches(model.config());
  const Index width = patch_dim(model.config());
  std::vector<float> patches;
  for (const std::vector<int>& ids : some) {
    const Tensor image = sample({rows, width}, static_cast<std::uint64_t>(ids.size()));
    patches.insert(patches.end(), image.values().begin(), image.values().end());
  }
  return model.logits(Tensor::from(patches, {rows * std::ssize(some), width}), context);
}

// Calls test(model) for a model of every family.
template <typename Test>
void for_families(const Test& test) {
  for (const FamilyNetwork& family : family_networks()) {
    SCOPED_TRACE(family.name);
    with_model_class(family.config.kind, [&]<typename Model>(std::type_identity<Model>) {
      test(shaken<Model>(family.config));
    });
  }
}

TEST(FamilyModels, CountTheParametersThatTheyHave) {
  for_families([](auto model) {
    Index count = 0;
    for (const nn::NamedTensor& parameter : nn::named_parameters(model)) {
      count += parameter.value.size();
    }
    EXPECT_EQ(num_parameters(model.config()), count);
  });
}

TEST(FamilyModels, OtherSequencesOfTheBatchChangeNothingToTheBit) {
  for_families([](const auto& model) {
    const Tensor together = results(model, sequences);
    Index begin = 0;
    for (const std::vector<int>& ids : sequences) {
      const Tensor alone = results(model, {ids});
      EXPECT_TRUE(same_bits(alone, rows_of(together, begin, alone.dim(0))));
      begin += alone.dim(0);
    }
    EXPECT_EQ(begin, together.dim(0));
  });
}

TEST(FamilyModels, GiveTheSameBitsPacked) {
  for_families([](const auto& model) {
    const NoGrad no_grad;
    EXPECT_TRUE(same_bits(results(pack(model), sequences), results(model, sequences)));
  });
}

TEST(FamilyModels, ComeBackFromTheirFiles) {
  for_families([]<typename Model>(const Model& model) {
    const TemporaryFolder folder;
    save_config(folder.path(), model.config());
    save_weights(folder.path(), parameters(model));
    const Model loaded = load_model<Model>(folder.path());
    EXPECT_EQ(to_json(loaded.config()), to_json(model.config()));
    EXPECT_TRUE(same_bits(results(loaded, sequences), results(model, sequences)));
  });
}

TEST(FamilyModels, OfTextDecodeWithACacheAsWithout) {
  const NoGrad no_grad;
  for (const FamilyNetwork& family : family_networks()) {
    if (family.config.kind != ModelKind::language) continue;
    SCOPED_TRACE(family.name);
    const LanguageModel model = pack(shaken<LanguageModel>(family.config));
    const std::vector<int> ids{4, 9, 4, 2, 1, 7, 7, 3, 0, 10, 5, 6, 8, 8, 2};
    const Tensor whole = results(model, {ids});
    nn::StackCache cache = model.start(1);
    Index read = 0;
    for (const Index count : {4, 1, 1, 6, 3}) {
      const std::vector<int> part(ids.begin() + read, ids.begin() + read + count);
      auto context = inference();
      const Tensor logits = model.logits(model.step(pack(Sequences{part}), cache, context));
      EXPECT_TRUE(same_bits(logits, rows_of(whole, read, count))) << "after " << read;
      read += count;
    }
  }
}

TEST(FamilyModels, OfTranslationDecodeWithACacheAsWithout) {
  const NoGrad no_grad;
  for (const FamilyNetwork& family : family_networks()) {
    if (family.config.kind != ModelKind::translation) continue;
    SCOPED_TRACE(family.name);
    const auto model = shaken<TranslationModel>(family.config);
    auto context = inference();
    const Packed memory = model.encode(pack(Sequences{{5, 1, 9}}), context);
    const std::vector<int> target{0, 4, 9, 4, 2};
    const Tensor whole = model.decode(pack(Sequences{target}), memory, context);
    nn::StackCache cache = model.start(memory, std::vector<Index>{1});
    for (Index i = 0; i < 5; ++i) {
      const std::vector<int> next{target[static_cast<std::size_t>(i)]};
      EXPECT_TRUE(same_bits(model.step(next, cache, context), rows_of(whole, i, 1)));
    }
  }
}

// What greedy search does without logits.
TEST(FamilyModels, TheArgmaxOfTheProjectionIsThatOfTheLogits) {
  for (const FamilyNetwork& family : family_networks()) {
    if (family.config.kind != ModelKind::translation) continue;
    SCOPED_TRACE(family.name);
    const auto model = shaken<TranslationModel>(family.config);
    const Tensor decoded = sample({50, 12});
    const Tensor logits = model.logits(decoded);
    const std::vector<Index> found = model.argmax_projection().argmax(decoded);
    Index sure = 0;
    for (Index row = 0; row < 50; ++row) {
      const auto its_logits = logits.values().subspan(row * 11, 11);
      if (found[row] == ops::ArgmaxProjection::inconclusive) continue;
      ++sure;
      EXPECT_EQ(found[row], std::ranges::max_element(its_logits) - its_logits.begin());
    }
    EXPECT_GT(sure, 40);
  }
}

TEST(FamilyModels, GradientsHaveTheSameBitsForAnyNumberOfThreads) {
  const PackedIds input = packed(sequences, albert_config(ModelKind::masked));
  const MaskedBatch batch{input, {1, 3, 5, 6}, {8, 2, 10, 8}};
  expect_same_gradients_for_any_threads(
      [] { return shaken<MaskedModel>(albert_config(ModelKind::masked)); }, batch);
  const LanguageBatch next{input, std::vector<int>(input.ids.rbegin(), input.ids.rend())};
  expect_same_gradients_for_any_threads([] { return shaken<LanguageModel>(gemma2_config()); },
                                        next);
}

TEST(FamilyModels, NameTheirParameters) {
  const auto names_of = []<typename Model>(std::type_identity<Model>,
                                           const TransformerConfig& config) {
    Model model(config, 1);
    return nn::parameter_names(model);
  };
  const auto has = [](const std::vector<std::string>& names, const char* name) {
    return std::ranges::count(names, name) == 1;
  };
  const auto albert = names_of(std::type_identity<MaskedModel>(), albert_config(ModelKind::masked));
  for (const char* name :
       {"embedding.weight", "token_type_embedding.weight", "embedding_projection.weight",
        "embedding_projection.bias", "encoder.embedding_norm.gain",
        "encoder.0.self_attention.query.weight", "output.transform.weight", "output.transform.bias",
        "output.norm.gain", "output.norm.bias", "output.bias"}) {
    EXPECT_TRUE(has(albert, name)) << name;
  }
  EXPECT_FALSE(has(albert, "encoder.1.self_attention.query.weight")) << "layers are shared";
  EXPECT_FALSE(has(albert, "output.weight")) << "it is tied";
  const auto opt = names_of(std::type_identity<LanguageModel>(), opt_config());
  EXPECT_TRUE(has(opt, "embedding_projection.weight") && has(opt, "hidden_projection.weight"));
  EXPECT_FALSE(has(opt, "embedding_projection.bias") || has(opt, "hidden_projection.bias"));
  const auto phi = names_of(std::type_identity<LanguageModel>(), phi_config());
  EXPECT_TRUE(has(phi, "output.weight") && has(phi, "output.bias"));
  const auto bert = names_of(std::type_identity<Classifier>(), bert_config(ModelKind::classifier));
  EXPECT_TRUE(has(bert, "head_layer.weight") && has(bert, "head_layer.bias"));
  EXPECT_TRUE(has(names_of(std::type_identity<ImageClassifier>(), vit_config()), "class_token"));
}

TEST(FamilyModels, TokensWithoutTypesHaveTheFirst) {
  const auto model = shaken<MaskedModel>(bert_config(ModelKind::masked));
  auto context = inference();
  PackedIds input = pack(sequences);
  const Tensor without = model.encode(input, context).values;
  input.types.assign(input.ids.size(), 0);
  EXPECT_TRUE(same_bits(model.encode(input, context).values, without));
  input.types.back() = 1;
  EXPECT_FALSE(same_bits(model.encode(input, context).values, without));
  input.types.back() = 2;
  EXPECT_THROW(model.encode(input, context), Error);
  input.types.pop_back();
  EXPECT_THROW(model.encode(input, context), Error);
}

TEST(FamilyModels, AnImageIsItsClassTokenAndItsPatches) {
  const auto model = shaken<ImageClassifier>(vit_config());
  EXPECT_EQ(results(model, sequences).shape(), (Shape{3, 3}));
  const auto parameters = models::parameters(model);
  const auto positions =
      std::ranges::find(parameters, "encoder.positions.weight", &nn::NamedTensor::name);
  ASSERT_NE(positions, parameters.end());
  EXPECT_EQ(positions->value.shape(), (Shape{5, 12}));  // of four patches
}

TEST(Encoder, NormalizesItsVectors) {
  TransformerConfig config = bert_config(ModelKind::encoder);
  const auto plain = shaken<Encoder>(config);
  config.normalizes = true;
  const auto unit = shaken<Encoder>(config);
  const Tensor vectors = results(plain, sequences), units = results(unit, sequences);
  for (Index row = 0; row < 3; ++row) {
    double square = 0;
    for (const float x : vectors.values().subspan(row * 12, 12)) square += double{x} * double{x};
    for (Index i = 0; i < 12; ++i) {
      const double expected = double{vectors.values()[row * 12 + i]} / std::sqrt(square);
      EXPECT_NEAR(units.values()[row * 12 + i], expected, 1e-6);
    }
  }
}

TEST(Encoder, PoolsTheFirstAndTheLastVectorAndTheLargestNumbers) {
  TransformerConfig config = bert_config(ModelKind::encoder);
  auto context = inference();
  const PackedIds input = packed(sequences, config);
  const Tensor encoded = shaken<Encoder>(config).encode(input, context).values;
  EXPECT_TRUE(same_bits(rows_of(results(shaken<Encoder>(config), sequences), 2, 1),
                        rows_of(encoded, 6, 1)));
  config.pooling = Pooling::last;
  EXPECT_TRUE(same_bits(rows_of(results(shaken<Encoder>(config), sequences), 0, 1),
                        rows_of(encoded, 4, 1)));
  config.pooling = Pooling::max;
  const Tensor largest = results(shaken<Encoder>(config), sequences);
  EXPECT_TRUE(same_bits(rows_of(largest, 1, 1), rows_of(encoded, 5, 1)));
  for (Index row = 0; row < 5; ++row) {
    EXPECT_GE(largest.values()[3], encoded.values()[row * 12 + 3]);
  }
}

TEST(Encoder, PrependsTheBeginTokenOfItsTokenizerUnlessThatHas) {
  TransformerConfig config = bert_config(ModelKind::encoder);
  const auto given = shaken<Encoder>(config);
  config.prepends_begin = true;
  config.tokens.begin = 6;
  const auto model = shaken<Encoder>(config);
  auto context = inference();
  EXPECT_TRUE(same_bits(model.pooled(pack(Sequences{{4, 9}}), context),
                        given.pooled(pack(Sequences{{6, 4, 9}}), context)));
}

TEST(FamilyModels, RefuseWhatNoNetworkHas) {
  const auto refused = [](TransformerConfig config, auto change, const std::string& message) {
    change(config);
    expect_error(ErrorKind::usage, message, [&] { validate(config); });
  };
  refused(
      gpt2_config(), [](auto& c) { c.token_types = 2; },
      "model: expected no token types for heed-language, found 2");
  refused(
      gpt2_config(), [](auto& c) { c.embedding_dim = 6; },
      "model: expected embeddings of the width for heed-language with the projection sum, "
      "found 6");
  refused(
      albert_config(ModelKind::masked), [](auto& c) { c.has_output_transform = false; },
      "model: expected an output transform to embeddings of 6, found none");
  refused(
      marian_config(), [](auto& c) { c.tying = Tying::all; },
      "model: expected one vocabulary for heed-translation with the tied embeddings all, "
      "found 13 tokens of the source");
  refused(
      marian_config(), [](auto& c) { c.has_output_transform = true; },
      "model: expected no output transform for heed-translation, found one");
  refused(
      bert_config(ModelKind::tagger), [](auto& c) { c.logit_softcap = 3; },
      "model: expected no settings of an output projection for heed-tagger, found some");
  refused(
      gpt2_config(), [](auto& c) { c.head_layer = HeadLayer::tanh; },
      "model: expected no layer before classes for heed-language, found tanh");
  refused(
      mpnet_config(), [](auto& c) { c.pooling = Pooling::attention; },
      "model: expected a pooling without parameters for heed-encoder, found attention");
  refused(
      bert_config(ModelKind::classifier), [](auto& c) { c.normalizes = true; },
      "model: expected vectors of any length for heed-classifier, found unit vectors");
  refused(
      gpt2_config(), [](auto& c) { c.has_shared_layers = true; },
      "model: expected layers of their own for a scale by layer, found shared ones");
  refused(
      phi_config(), [](auto& c) { c.norm_place = NormPlace::after; },
      "model: expected norms before parallel sub-layers, found after");
  refused(
      t5_config(), [](auto& c) { c.relative_buckets = 2; },
      "model: expected relative buckets for 2 sides and distances beyond 0, found 2 up to 6");
  refused(
      m2m100_config(), [](auto& c) { c.decoder_heads = 5; },
      "model: expected heads that divide the width 12, found 5");
  refused(
      gemma2_config(),
      [](auto& c) {
        c.head_dim = c.num_heads = 1 << 13;
        c.num_key_value_heads = 0;
      },
      "model: expected heads of a width of at most 16777216 together, found 8192 of 8192");
  refused(
      phi_config(), [](auto& c) { c.rotary.scaling = ops::RotaryScaling::longrope; },
      "model: expected 2 rotary divisors, found 0");
  refused(
      vit_config(), [](auto& c) { c.has_class_token = false; },
      "model: expected the pooling mean or attention for images without a class token, found "
      "first");
  refused(
      mpnet_config(), [](auto& c) { c.has_class_token = true; },
      "model: expected no class token for heed-encoder, found one");
}

}  // namespace
}  // namespace heed::models
