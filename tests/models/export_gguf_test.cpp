#include "heed/models/export_gguf.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/io/files.h"
#include "heed/models/language_model.h"
#include "models/small_models.h"
#include "support/expect_error.h"
#include "support/gguf_file.h"
#include "support/temporary_folder.h"

namespace heed::models {
namespace {

GgufVocabulary letters() {
  return {.model = "llama",
          .tokens = {"<pad>", "<unk>", "<s>", "</s>", "a"},
          .scores = {0, 0, 0, 0, -1},
          .types = {3, 2, 3, 3, 1}};
}

GgufVocabulary unigrams() {
  GgufVocabulary vocabulary = letters();
  vocabulary.model = "t5";
  return vocabulary;
}

TransformerConfig llama_config() {
  TransformerConfig config = small_config(ModelKind::language);
  config.model_dim = 32;
  config.feed_forward_dim = 40;
  config.num_heads = 4;
  config.num_key_value_heads = 2;
  config.norm_place = NormPlace::before;
  config.norm_kind = NormKind::rms;
  config.positions = Positions::rotary;
  config.activation = Activation::swiglu;
  return config;
}

TransformerConfig gpt2_config() {
  TransformerConfig config = small_config(ModelKind::language);
  config.norm_place = NormPlace::before;
  config.positions = Positions::learned;
  config.activation = Activation::gelu_tanh;
  return config;
}

struct Exported {
  explicit Exported(const TransformerConfig& config, WeightFormat weights = WeightFormat::f32,
                    const GgufVocabulary& vocabulary = letters())
      : model(config, 3) {
    const TemporaryFolder folder;
    notes = export_gguf(model, vocabulary, folder.file("m.gguf"), {.weights = weights});
    file = GgufReader(io::read_file(folder.file("m.gguf"))).read();
  }
  Tensor parameter(const std::string& name) const {
    for (const nn::NamedTensor& one : parameters(model)) {
      if (one.name == name) return one.value;
    }
    ADD_FAILURE() << name;
    return {};
  }
  std::span<const float> tensor(const std::string& name) const {
    return file.tensors.at(name).values;
  }

  LanguageModel model;
  std::vector<std::string> notes;
  GgufFile file;
};

TEST(ExportGguf, ALlamaHasItsSizes) {
  const Exported exported(llama_config());
  const GgufFile& file = exported.file;
  EXPECT_EQ(file.get<std::string>("general.architecture"), "llama");
  EXPECT_EQ(file.get<std::uint32_t>("llama.block_count"), 2u);
  EXPECT_EQ(file.get<std::uint32_t>("llama.embedding_length"), 32u);
  EXPECT_EQ(file.get<std::uint32_t>("llama.feed_forward_length"), 40u);
  EXPECT_EQ(file.get<std::uint32_t>("llama.attention.head_count"), 4u);
  EXPECT_EQ(file.get<std::uint32_t>("llama.attention.head_count_kv"), 2u);
  EXPECT_EQ(file.get<std::uint32_t>("llama.rope.dimension_count"), 8u);
  EXPECT_EQ(file.get<float>("llama.attention.layer_norm_rms_epsilon"), 1e-5f);
  EXPECT_EQ(file.get<std::uint32_t>("llama.vocab_size"), 20u + 256u);
  EXPECT_EQ(file.get<std::vector<std::string>>("tokenizer.ggml.tokens").size(), 20u + 256u);
  EXPECT_EQ(file.get<std::uint32_t>("tokenizer.ggml.eos_token_id"), 3u);
  EXPECT_TRUE(exported.notes.empty());
}

// RoPE of this architecture rotates pairs (2i, 2i + 1); ours (i, i + K / 2).
TEST(ExportGguf, QueriesAndKeysOfALlamaHaveTheirPairsSideBySide) {
  const Exported exported(llama_config());
  constexpr Index head_dim = 8, cols = 32;
  for (const auto& [ours, name, num_heads] :
       {std::tuple{"query", "attn_q", 4}, std::tuple{"key", "attn_k", 2}}) {
    const Tensor from =
        exported.parameter(std::string("decoder.1.self_attention.") + ours + ".weight");
    const auto to = exported.tensor(std::string("blk.1.") + name + ".weight");
    for (Index head = 0; head < num_heads; ++head) {
      for (Index i = 0; i < head_dim; ++i) {
        const Index source = head * head_dim + i / 2 + (i % 2) * head_dim / 2;
        for (Index col = 0; col < cols; ++col) {
          ASSERT_EQ(to[static_cast<std::size_t>((head * head_dim + i) * cols + col)],
                    from.data()[source * cols + col]);
        }
      }
    }
  }
}

TEST(ExportGguf, TheScaleOfEmbeddingsIsInTheTableAndTheOutputIsApart) {
  const Exported exported(llama_config());
  const Tensor table = exported.parameter("embedding.weight");
  const auto embeddings = exported.tensor("token_embd.weight"),
             output = exported.tensor("output.weight");
  for (std::size_t i = 0; i < table.values().size(); ++i) {
    EXPECT_EQ(embeddings[i], table.values()[i] * std::sqrt(32.0f));
    EXPECT_EQ(output[i], table.values()[i]);
  }
  TransformerConfig unscaled = llama_config();
  unscaled.embedding_scale = 1;
  EXPECT_FALSE(
      Exported(unscaled, WeightFormat::f32, unigrams()).file.tensors.contains("output.weight"));
}

// llama.cpp ends its process at a character of BPE that has neither a piece nor bytes.
TEST(ExportGguf, BytesThatBpeLacksAreReadAsUnknownAndAsLikelyAsPadding) {
  TransformerConfig config = llama_config();
  config.embedding_scale = 1;
  const Exported exported(config);
  const auto row = [&](const char* name, std::size_t token) {
    return exported.tensor(name).subspan(token * 32, 32);
  };
  const auto unknown = static_cast<std::size_t>(config.tokens.unknown);
  const auto pad = static_cast<std::size_t>(config.tokens.pad);
  for (const std::size_t byte : {0u, 255u}) {
    EXPECT_TRUE(
        std::ranges::equal(row("token_embd.weight", 20 + byte), row("token_embd.weight", unknown)));
    EXPECT_TRUE(std::ranges::equal(row("output.weight", 20 + byte), row("output.weight", pad)));
  }
  EXPECT_EQ(exported.tensor("token_embd.weight").size(), (20u + 256u) * 32u);
  EXPECT_EQ(exported.tensor("output.weight").size(), (20u + 256u) * 32u);
  config.tokens.pad = text::SpecialTokens::none;
  expect_error(ErrorKind::model,
               "tokenizer: expected pieces of all bytes for GGUF, or tokens for what is unknown "
               "and for padding, found neither",
               [&] { Exported other(config); });
}

TEST(ExportGguf, QwensAreToldByTheirBiasesAndNorms) {
  TransformerConfig config = llama_config();
  config.has_feed_forward_bias = false;
  config.attention_bias = AttentionBias::query_key_value;
  const Exported qwen2(config);
  EXPECT_EQ(qwen2.file.get<std::string>("general.architecture"), "qwen2");
  EXPECT_TRUE(qwen2.file.tensors.contains("blk.0.attn_q.bias"));
  EXPECT_FALSE(qwen2.file.tensors.contains("blk.0.attn_output.bias"));
  const Tensor query = qwen2.parameter("decoder.0.self_attention.query.weight");
  EXPECT_TRUE(std::ranges::equal(qwen2.tensor("blk.0.attn_q.weight"), query.values()));
  config.attention_bias = AttentionBias::none;
  config.has_query_key_norm = true;
  const Exported qwen3(config);
  EXPECT_EQ(qwen3.file.get<std::string>("general.architecture"), "qwen3");
  EXPECT_EQ(qwen3.file.tensors.at("blk.1.attn_k_norm.weight").sizes, std::vector<std::uint64_t>{8});
}

TEST(ExportGguf, Gpt2HasOneMatrixForQueriesKeysAndValues) {
  const Exported exported(gpt2_config());
  EXPECT_EQ(exported.file.get<std::string>("general.architecture"), "gpt2");
  EXPECT_EQ(exported.file.tensors.at("blk.0.attn_qkv.weight").sizes,
            (std::vector<std::uint64_t>{16, 48}));
  EXPECT_EQ(exported.file.tensors.at("blk.0.attn_qkv.bias").values.size(), 48u);
  const Tensor value = exported.parameter("decoder.0.self_attention.value.weight");
  EXPECT_TRUE(std::ranges::equal(exported.tensor("blk.0.attn_qkv.weight").subspan(2 * 16 * 16),
                                 value.values()));
  EXPECT_EQ(exported.file.tensors.at("position_embd.weight").sizes,
            (std::vector<std::uint64_t>{16, 64}));
}

TEST(ExportGguf, OtherPositionsAreOtherArchitectures) {
  TransformerConfig config = gpt2_config();
  config.positions = Positions::sinusoidal;
  const Exported sinusoids(config);
  EXPECT_EQ(sinusoids.file.get<std::string>("general.architecture"), "gpt2");
  EXPECT_NEAR(sinusoids.tensor("position_embd.weight")[16], std::sin(1.0f), 1e-6f);
  config.positions = Positions::rotary;
  EXPECT_EQ(Exported(config).file.get<std::string>("general.architecture"), "gptneox");
  config.positions = Positions::alibi;
  const Exported alibi(config);
  EXPECT_EQ(alibi.file.get<std::string>("general.architecture"), "mpt");
  EXPECT_EQ(alibi.file.get<float>("mpt.attention.max_alibi_bias"), 8);
}

TEST(ExportGguf, MatricesHaveTheFormatAndVectorsStayFloats) {
  const Exported half(llama_config(), WeightFormat::f16),
      blocks(llama_config(), WeightFormat::int8);
  EXPECT_EQ(half.file.tensors.at("blk.0.ffn_up.weight").type, 1u);
  EXPECT_EQ(blocks.file.tensors.at("blk.0.ffn_up.weight").type, 8u);
  EXPECT_EQ(blocks.file.tensors.at("blk.0.ffn_down.weight").type, 1u);  // rows of 40
  EXPECT_EQ(blocks.file.tensors.at("blk.0.attn_norm.weight").type, 0u);
  EXPECT_EQ(blocks.file.get<std::uint32_t>("general.file_type"), 7u);
}

TEST(ExportGguf, FactorsOfLlama3AreATensor) {
  TransformerConfig config = llama_config();
  config.rotary = {.scaling = ops::RotaryScaling::llama3, .factor = 8, .original_positions = 32};
  const auto factors = Exported(config).file.tensors.at("rope_freqs.weight").values;
  ASSERT_EQ(factors.size(), 4u);
  EXPECT_EQ(factors.back(), 8);  // of the longest wave
}

TEST(ExportGguf, GeluIsNotedAsAnApproximation) {
  TransformerConfig config = gpt2_config();
  config.activation = Activation::gelu;
  EXPECT_EQ(Exported(config).notes.size(), 1u);
}

TEST(ExportGguf, WhatHasNoHomeIsRefusedByTheNameOfItsSetting) {
  const auto expect_refused = [](const std::string& message, TransformerConfig config) {
    expect_error(ErrorKind::model, message,
                 [&] { export_gguf(LanguageModel(config, 1), letters(), "unused.gguf"); });
  };
  TransformerConfig config = llama_config();
  config.positions = Positions::alibi;
  expect_refused("positions: GGUF has no architecture with alibi positions and RMS norm", config);
  config = gpt2_config();
  config.norm_place = NormPlace::after;
  expect_refused("norm_place: GGUF has no architecture with norms after sub-layers", config);
  config = gpt2_config();
  config.activation = Activation::swiglu;
  config.positions = Positions::rotary;
  expect_refused(
      "activation_function: GGUF has no architecture with swiglu (a gate) and layer norm", config);
  config = gpt2_config();
  config.activation = Activation::relu;
  expect_refused("activation_function: GGUF has no architecture with relu and layer norm", config);
  config = llama_config();
  config.windows = {4};
  expect_refused("windows: GGUF has no architecture with these blocks and windows", config);
}

}  // namespace
}  // namespace heed::models
