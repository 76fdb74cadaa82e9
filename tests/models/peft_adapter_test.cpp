#include "heed/models/peft_adapter.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "heed/base/random.h"
#include "heed/io/files.h"
#include "heed/io/safetensors.h"
#include "heed/models/model_folder.h"
#include "heed/models/model_kinds.h"
#include "support/expect_error.h"
#include "support/same_bits.h"
#include "support/sample.h"
#include "support/temporary_folder.h"

namespace heed::models {
namespace {

using nlohmann::ordered_json;

// A model of a family, as its config.json describes it, with random weights.
struct Base {
  explicit Base(const ordered_json& config) {
    io::write_file_atomically(folder.file("config.json"), config.dump());
    base.config = load_config(folder.path());
    base.parameters =
        with_model_class(base.config.kind, [&]<typename Model>(std::type_identity<Model>) {
          return models::parameters(Model(base.config, 3));
        });
  }

  // Of all matrices of attention and feed-forward.
  LoraAdapter adapter(Index rank) const {
    LoraAdapter adapter{
        .base = weights_hash(base.parameters), .scale = 2, .matrices = {}, .replaced = {}};
    std::uint64_t seed = 1;
    for (const nn::NamedTensor& one : base.parameters) {
      const bool is_inside = one.name.find("attention.") != one.name.npos ||
                             one.name.find("feed_forward.") != one.name.npos;
      if (!is_inside || one.value.rank() != 2) continue;
      adapter.matrices.push_back({one.name, sample({one.value.dim(0), rank}, ++seed),
                                  sample({rank, one.value.dim(1)}, ++seed)});
    }
    return adapter;
  }

  std::vector<nn::NamedTensor> merged(const LoraAdapter& adapter) const {
    std::vector<nn::NamedTensor> parameters = base.parameters;
    merge(adapter, parameters);
    return parameters;
  }

  TemporaryFolder folder;
  PeftBase base;
};

ordered_json gpt2() {
  return {{"model_type", "gpt2"}, {"vocab_size", 11}, {"n_embd", 8},
          {"n_layer", 2},         {"n_head", 2},      {"n_positions", 16}};
}

ordered_json gpt_neox() {
  return {{"model_type", "gpt_neox"}, {"vocab_size", 11},         {"hidden_size", 8},
          {"num_hidden_layers", 2},   {"num_attention_heads", 2}, {"intermediate_size", 12},
          {"rotary_pct", 0.5}};
}

ordered_json llama() {
  return {{"model_type", "llama"},    {"vocab_size", 11},
          {"hidden_size", 8},         {"num_hidden_layers", 2},
          {"num_attention_heads", 4}, {"num_key_value_heads", 2},
          {"intermediate_size", 12},  {"max_position_embeddings", 32}};
}

ordered_json bert() {
  return {{"model_type", "bert"},
          {"architectures", ordered_json::array({"BertForSequenceClassification"})},
          {"vocab_size", 11},
          {"hidden_size", 8},
          {"num_hidden_layers", 2},
          {"num_attention_heads", 2},
          {"intermediate_size", 12},
          {"max_position_embeddings", 16}};
}

ordered_json settings_of(const std::string& folder) {
  return ordered_json::parse(io::read_file(folder + "/adapter_config.json"));
}

void write_settings(const std::string& folder, const ordered_json& settings) {
  io::write_file_atomically(folder + "/adapter_config.json", settings.dump());
}

// A file of PEFT's with these tensors.
void write_tensors(const std::string& folder,
                   const std::vector<std::pair<std::string, Tensor>>& tensors) {
  std::vector<io::TensorRecord> records;
  for (const auto& [name, value] : tensors) {
    const auto sizes = value.shape().sizes();
    records.push_back(io::float_record(name, {sizes.begin(), sizes.end()}, value.values()));
  }
  io::write_safetensors(folder + "/adapter_model.safetensors", records, {{"format", "pt"}});
}

std::string refusal(const std::string& folder, const PeftBase& base) {
  try {
    load_peft_adapter(folder, base);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::model);
    return error.what();
  }
  ADD_FAILURE() << "expected an error";
  return "";
}

TEST(PeftAdapter, OutAndInGivesTheSameWeights) {
  for (const ordered_json& config : {gpt2(), gpt_neox(), llama(), bert()}) {
    SCOPED_TRACE(config["model_type"]);
    const Base model(config);
    const TemporaryFolder folder;
    const LoraAdapter adapter = model.adapter(3);
    save_peft_adapter(folder.path(), adapter, model.base, "base");
    const auto expected = model.merged(adapter);
    const auto found = model.merged(load_peft_adapter(folder.path(), model.base));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_TRUE(same_bits(found[i].value, expected[i].value)) << expected[i].name;
    }
  }
}

TEST(PeftAdapter, SaysWhatPeftNeedsToKnow) {
  const Base model(gpt2());
  const TemporaryFolder folder;
  save_peft_adapter(folder.path(), model.adapter(4), model.base, "/models/gpt2");
  const ordered_json settings = settings_of(folder.path());
  EXPECT_EQ(settings["peft_type"], "LORA");
  EXPECT_EQ(settings["task_type"], "CAUSAL_LM");
  EXPECT_EQ(settings["base_model_name_or_path"], "/models/gpt2");
  EXPECT_EQ(settings["r"], 4);
  EXPECT_EQ(settings["lora_alpha"], 8);
  EXPECT_EQ(settings["fan_in_fan_out"], true);
  EXPECT_EQ(settings["target_modules"], ordered_json::array({"c_attn", "c_fc", "c_proj"}));
  EXPECT_EQ(settings["rank_pattern"], (ordered_json{{"c_attn", 12}}));
  EXPECT_EQ(settings["alpha_pattern"], (ordered_json{{"c_attn", 24}}));
  const auto file = io::SafetensorsFile::load(folder.path() + "/adapter_model.safetensors");
  const std::string module = "base_model.model.transformer.h.1.attn.c_attn.";
  EXPECT_EQ(file.require(module + "lora_A.weight").shape, (std::vector<std::int64_t>{12, 8}));
  EXPECT_EQ(file.require(module + "lora_B.weight").shape, (std::vector<std::int64_t>{24, 12}));
}

// "dense" alone would be the pooler's, too.
TEST(PeftAdapter, NamesOnlyLayersThatHaveAnAdapter) {
  const Base model(bert());
  const TemporaryFolder folder;
  LoraAdapter adapter = model.adapter(2);
  adapter.replaced.push_back({"head.weight", sample({2, 8}, 9)});
  save_peft_adapter(folder.path(), adapter, model.base, "");
  const ordered_json settings = settings_of(folder.path());
  EXPECT_EQ(settings["task_type"], "SEQ_CLS");
  EXPECT_EQ(settings["target_modules"],
            ordered_json::array({"intermediate.dense", "key", "output.dense", "query", "value"}));
  EXPECT_EQ(settings["modules_to_save"], ordered_json::array({"classifier"}));
  const LoraAdapter loaded = load_peft_adapter(folder.path(), model.base);
  ASSERT_EQ(loaded.replaced.size(), 1u);
  EXPECT_EQ(loaded.replaced[0].name, "head.weight");
  EXPECT_TRUE(same_bits(loaded.replaced[0].value, adapter.replaced[0].value));
}

// One adapter of the matrix for query, key and value, as PEFT makes it, by hand: W + alpha/r B A.
TEST(PeftAdapter, AnAdapterOfStackedMatricesIsAddedToEach) {
  const Base model(gpt2());
  const TemporaryFolder folder;
  const Tensor a = sample({2, 8}, 5), b = sample({24, 2}, 6);
  for (const std::string prefix : {"base_model.model.transformer.", "base_model.model."}) {
    write_tensors(folder.path(), {{prefix + "h.1.attn.c_attn.lora_A.weight", a},
                                  {prefix + "h.1.attn.c_attn.lora_B.weight", b}});
    write_settings(folder.path(), {{"peft_type", "LORA"}, {"r", 2}, {"lora_alpha", 3}});
    const auto merged = model.merged(load_peft_adapter(folder.path(), model.base));
    Index num_changed = 0;
    for (std::size_t i = 0; i < merged.size(); ++i) {
      const std::string& name = merged[i].name;
      const Tensor &before = model.base.parameters[i].value, &after = merged[i].value;
      if (same_bits(before, after)) continue;
      ++num_changed;
      ASSERT_TRUE(name.starts_with("decoder.1.self_attention.")) << name;
      const Index first = name.find("query") != name.npos ? 0
                          : name.find("key") != name.npos ? 8
                                                          : 16;
      for (Index row = 0; row < 8; ++row) {
        for (Index column = 0; column < 8; ++column) {
          double expected = double{before.data()[row * 8 + column]};
          for (Index k = 0; k < 2; ++k) {
            expected +=
                1.5 * double{b.data()[(first + row) * 2 + k]} * double{a.data()[k * 8 + column]};
          }
          EXPECT_NEAR(double{after.data()[row * 8 + column]}, expected, 1e-5) << name;
        }
      }
    }
    EXPECT_EQ(num_changed, 3);
  }
}

TEST(PeftAdapter, RanksAndScalesMayDifferByLayer) {
  const Base model(llama());
  const TemporaryFolder folder;
  const std::string layer = "base_model.model.model.layers.0.";
  write_tensors(folder.path(), {{layer + "self_attn.o_proj.lora_A.weight", sample({4, 8}, 1)},
                                {layer + "self_attn.o_proj.lora_B.weight", sample({8, 4}, 2)},
                                {layer + "mlp.up_proj.lora_A.weight", sample({2, 8}, 3)},
                                {layer + "mlp.up_proj.lora_B.weight", sample({12, 2}, 4)}});
  write_settings(folder.path(), {{"peft_type", "LORA"},
                                 {"r", 2},
                                 {"lora_alpha", 4},
                                 {"use_rslora", true},
                                 {"rank_pattern", {{"o_proj", 4}}},
                                 {"alpha_pattern", {{"layers.0.self_attn.o_proj", 6}}}});
  const LoraAdapter adapter = load_peft_adapter(folder.path(), model.base);
  ASSERT_EQ(adapter.matrices.size(), 2u);
  for (const LoraMatrices& lora : adapter.matrices) {
    const bool is_output = lora.name.find("attention") != lora.name.npos;
    const Tensor b = is_output ? sample({8, 4}, 2) : sample({12, 2}, 4);
    const double scale = is_output ? 6 / std::sqrt(4.0) : 4 / std::sqrt(2.0);
    for (Index i = 0; i < b.size(); ++i) {
      EXPECT_NEAR(double{adapter.scale} * double{lora.up.data()[i]}, scale * double{b.data()[i]},
                  1e-5)
          << lora.name;
    }
  }
}

TEST(PeftAdapter, RefusesOtherMethodsAndExtensionsByName) {
  const Base model(llama());
  const TemporaryFolder folder;
  save_peft_adapter(folder.path(), model.adapter(2), model.base, "");
  const ordered_json good = settings_of(folder.path());
  const auto expect_refused = [&](const char* name, const ordered_json& value) {
    ordered_json settings = good;
    settings[name] = value;
    write_settings(folder.path(), settings);
    EXPECT_NE(refusal(folder.path(), model.base).find(name), std::string::npos) << name;
  };
  expect_refused("peft_type", "PROMPT_TUNING");
  expect_refused("use_dora", true);
  expect_refused("bias", "all");
  expect_refused("init_lora_weights", "pissa");
  expect_refused("layer_replication", {{0, 1}});
  expect_refused("r", 0);
  write_settings(folder.path(), good);
  EXPECT_NO_THROW(load_peft_adapter(folder.path(), model.base));
  ordered_json pattern = good;
  pattern["rank_pattern"] = {{"^model.layers.[01].*", 4}};
  write_settings(folder.path(), pattern);
  EXPECT_NE(refusal(folder.path(), model.base).find("found a regular expression"),
            std::string::npos);
}

TEST(PeftAdapter, RefusesTensorsThatTheModelDoesNotHave) {
  const Base model(llama());
  const TemporaryFolder folder;
  const std::string layer = "base_model.model.model.layers.";
  write_settings(folder.path(), {{"peft_type", "LORA"}, {"r", 2}, {"lora_alpha", 4}});
  const auto refused = [&](const std::vector<std::pair<std::string, Tensor>>& tensors) {
    write_tensors(folder.path(), tensors);
    return refusal(folder.path(), model.base);
  };
  const Tensor a = sample({2, 8}, 1), b = sample({8, 2}, 2);
  const std::string file = folder.path() + "/adapter_model.safetensors: ";
  EXPECT_NE(refused({{layer + "7.mlp.up_proj.lora_A.weight", a}})
                .find("expected tensors of a llama model, found " + layer + "7.mlp."),
            std::string::npos);
  EXPECT_EQ(
      refused({{layer + "0.self_attn.o_proj.lora_A.weight", a}}),
      file + "model.layers.0.self_attn.o_proj: expected lora_A and lora_B, found one of them");
  EXPECT_EQ(refused({{layer + "0.self_attn.o_proj.lora_A.weight", b},
                     {layer + "0.self_attn.o_proj.lora_B.weight", b}}),
            file +
                "model.layers.0.self_attn.o_proj: expected matrices A [2, 8] and B [8, 2], "
                "found [8, 2] and [8, 2]");
  EXPECT_NE(refused({{"base_model.model.model.embed_tokens.lora_embedding_A", a}})
                .find("lora_embedding_A, which is not supported"),
            std::string::npos);
  EXPECT_NE(refused({}).find("expected tensors of an adapter, found none"), std::string::npos);
}

}  // namespace
}  // namespace heed::models
