// Folders of every family, written and read without reference data, and damaged ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "heed/io/files.h"
#include "heed/io/safetensors.h"
#include "heed/models/model_folder.h"
#include "heed/models/model_kinds.h"
#include "models/packed_alone.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace heed::models {
namespace {

using nlohmann::json;

// The smallest settings of a family that are not its defaults.
json small_settings(const std::string& model_type, const std::string& class_name) {
  json settings{{"model_type", model_type}, {"architectures", {class_name}}};
  for (const char* key : {"vocab_size"}) settings[key] = 19;
  for (const char* key : {"hidden_size", "d_model", "n_embd", "dim"}) settings[key] = 12;
  for (const char* key : {"intermediate_size", "d_ff", "ffn_dim", "encoder_ffn_dim", "hidden_dim",
                          "decoder_ffn_dim", "n_inner"}) {
    settings[key] = 10;
  }
  for (const char* key : {"num_hidden_layers", "n_layer", "n_layers", "num_layers",
                          "encoder_layers", "decoder_layers"}) {
    settings[key] = 2;
  }
  for (const char* key : {"num_attention_heads", "n_head", "n_heads", "num_heads",
                          "encoder_attention_heads", "decoder_attention_heads"}) {
    settings[key] = 2;
  }
  for (const char* key : {"max_position_embeddings", "n_positions"}) settings[key] = 24;
  settings["num_key_value_heads"] = 1;
  settings["rotary_pct"] = settings["partial_rotary_factor"] = 0.34;
  settings["head_dim"] = 8;
  settings["d_kv"] = 4;
  settings["embedding_size"] = 6;
  settings["word_embed_proj_dim"] = 6;
  settings["pad_token_id"] = 1;
  settings["image_size"] = 8;
  settings["patch_size"] = 4;
  settings["id2label"] = {{"0", "cold"}, {"1", "warm"}, {"2", "hot"}};
  return settings;
}

struct FamilyCase {
  std::string model_type, class_name;
};

std::ostream& operator<<(std::ostream& out, const FamilyCase& one) { return out << one.class_name; }

class FamilyFolders : public testing::TestWithParam<FamilyCase> {};

void expect_equal(const std::vector<nn::NamedTensor>& a, const std::vector<nn::NamedTensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].name, b[i].name);
    EXPECT_TRUE(std::ranges::equal(a[i].value.values(), b[i].value.values())) << a[i].name;
  }
}

TEST_P(FamilyFolders, IsReadAsItWasWritten) {
  const TemporaryFolder folder;
  const FamilyCase& one = GetParam();
  folder.write("config.json", small_settings(one.model_type, one.class_name).dump());
  const TransformerConfig config = load_config(folder.path());
  EXPECT_EQ(config.family, one.model_type);
  with_model_class(config.kind, [&]<typename AnyModel>(std::type_identity<AnyModel>) {
    const AnyModel model(config, 5);
    save_model(folder.path(), model);
    const auto written = json::parse(io::read_file(folder.path() + "/config.json"));
    EXPECT_EQ(written["architectures"][0], one.class_name);
    EXPECT_EQ(load_config(folder.path()), config);
    expect_equal(parameters(load_model<AnyModel>(folder.path())), parameters(model));
  });
}

TEST_P(FamilyFolders, HoldsHalvesAsTheyAreForInference) {
  const TemporaryFolder folder;
  folder.write("config.json", small_settings(GetParam().model_type, GetParam().class_name).dump());
  const TransformerConfig config = load_config(folder.path());
  with_model_class(config.kind, [&]<typename AnyModel>(std::type_identity<AnyModel>) {
    save_model(folder.path(), AnyModel(config, 5), WeightFormat::bf16);
    const auto floats = load_model<AnyModel>(folder.path());
    const auto halves = load_model<AnyModel>(folder.path(), {.for_inference = true});
    expect_packed_alone(halves, WeightFormat::bf16);
    expect_equal(parameters(halves), parameters(floats));
    const LoadOptions int8{.for_inference = true, .weights = WeightFormat::int8};
    const auto quantized = load_model<AnyModel>(folder.path(), int8);
    expect_packed_alone(quantized, WeightFormat::int8);
    expect_equal(parameters(quantized), parameters(quantize(floats, WeightFormat::int8)));
  });
}

INSTANTIATE_TEST_SUITE_P(
    Classes, FamilyFolders,
    testing::Values(
        FamilyCase{"llama", "LlamaForCausalLM"}, FamilyCase{"mistral", "MistralForCausalLM"},
        FamilyCase{"qwen2", "Qwen2ForCausalLM"}, FamilyCase{"qwen3", "Qwen3ForCausalLM"},
        FamilyCase{"phi3", "Phi3ForCausalLM"}, FamilyCase{"gemma", "GemmaForCausalLM"},
        FamilyCase{"gemma2", "Gemma2ForCausalLM"}, FamilyCase{"gpt2", "GPT2LMHeadModel"},
        FamilyCase{"gpt_neox", "GPTNeoXForCausalLM"}, FamilyCase{"phi", "PhiForCausalLM"},
        FamilyCase{"opt", "OPTForCausalLM"}, FamilyCase{"bert", "BertForMaskedLM"},
        FamilyCase{"bert", "BertForSequenceClassification"},
        FamilyCase{"bert", "BertForTokenClassification"}, FamilyCase{"bert", "BertModel"},
        FamilyCase{"roberta", "RobertaForMaskedLM"},
        FamilyCase{"roberta", "RobertaForSequenceClassification"},
        FamilyCase{"xlm-roberta", "XLMRobertaForTokenClassification"},
        FamilyCase{"camembert", "CamembertModel"},
        FamilyCase{"distilbert", "DistilBertForMaskedLM"},
        FamilyCase{"distilbert", "DistilBertForSequenceClassification"},
        FamilyCase{"electra", "ElectraForPreTraining"}, FamilyCase{"electra", "ElectraForMaskedLM"},
        FamilyCase{"electra", "ElectraForSequenceClassification"},
        FamilyCase{"mpnet", "MPNetForMaskedLM"}, FamilyCase{"mpnet", "MPNetModel"},
        FamilyCase{"albert", "AlbertForMaskedLM"},
        FamilyCase{"albert", "AlbertForSequenceClassification"},
        FamilyCase{"bart", "BartForConditionalGeneration"},
        FamilyCase{"mbart", "MBartForConditionalGeneration"},
        FamilyCase{"m2m_100", "M2M100ForConditionalGeneration"},
        FamilyCase{"marian", "MarianMTModel"}, FamilyCase{"t5", "T5ForConditionalGeneration"},
        FamilyCase{"mt5", "MT5ForConditionalGeneration"},
        FamilyCase{"vit", "ViTForImageClassification"}),
    [](const auto& info) { return info.param.class_name; });

TEST(FamilyFolder, HasTheVocabulariesOfSourceAndTarget) {
  const TemporaryFolder folder;
  json settings = small_settings("marian", "MarianMTModel");
  settings["share_encoder_decoder_embeddings"] = false;
  settings["decoder_vocab_size"] = 23;
  folder.write("config.json", settings.dump());
  const TransformerConfig config = load_config(folder.path());
  EXPECT_EQ(config.source_vocabulary, 19);
  EXPECT_EQ(config.vocabulary, 23);
  const TranslationModel model(config, 5);
  save_model(folder.path(), model);
  EXPECT_EQ(load_config(folder.path()), config);
  expect_equal(parameters(load_model<TranslationModel>(folder.path())), parameters(model));
}

TEST(FamilyFolder, MayHaveNoBiasOfQueryKeyAndValue) {
  const TemporaryFolder folder;
  json settings = small_settings("vit", "ViTForImageClassification");
  settings["qkv_bias"] = false;
  folder.write("config.json", settings.dump());
  save_model(folder.path(), ImageClassifier(load_config(folder.path()), 5));
  const auto names = io::tensor_names(folder.path() + "/model.safetensors");
  const std::string attention = "vit.encoder.layer.0.attention.";
  EXPECT_EQ(std::ranges::count(names, attention + "attention.query.bias"), 0);
  EXPECT_EQ(std::ranges::count(names, attention + "output.dense.bias"), 1);
}

// A folder of a small Llama, for damage.
class LlamaFolder : public testing::Test {
 protected:
  LlamaFolder() : settings_(small_settings("llama", "LlamaForCausalLM")) {
    settings_["tie_word_embeddings"] = false;
    write_settings();
    save_model(path(), LanguageModel(load_config(path()), 5));
    write_settings();
  }

  const std::string& path() const { return folder_.path(); }
  std::string weights() const { return path() + "/model.safetensors"; }
  void write_settings() { folder_.write("config.json", settings_.dump()); }
  void expect_refused_settings(const std::string& message) {
    write_settings();
    expect_error(ErrorKind::model, path() + "/config.json: " + message,
                 [&] { load_config(path()); });
  }
  void expect_refused_weights(const std::string& message) {
    expect_error(ErrorKind::model, weights() + ": " + message,
                 [&] { load_model<LanguageModel>(path()); });
  }
  // Writes the tensors again after a change.
  template <typename Change>
  void change_tensors(Change&& change) {
    const auto file = io::SafetensorsFile::load(weights());
    std::vector<io::TensorRecord> records = file.tensors();
    change(records);
    io::write_safetensors(weights(), records);
  }
  static io::TensorRecord& record(std::vector<io::TensorRecord>& records, const std::string& name) {
    return *std::ranges::find(records, name, &io::TensorRecord::name);
  }

  TemporaryFolder folder_;
  json settings_;
};

TEST_F(LlamaFolder, IsRefusedWithoutATensor) {
  change_tensors([](auto& records) {
    std::erase_if(records, [](const auto& r) { return r.name == "model.norm.weight"; });
  });
  expect_refused_weights("expected a tensor named model.norm.weight, found none");
}

TEST_F(LlamaFolder, IsRefusedWithATensorTooMany) {
  change_tensors([](auto& records) {
    records.push_back(record(records, "model.norm.weight"));
    records.back().name = "model.layers.0.self_attn.q_proj.bias";
  });
  expect_refused_weights(
      "expected the tensors of the model, found also model.layers.0.self_attn.q_proj.bias");
}

TEST_F(LlamaFolder, IsRefusedWithATensorOfAnotherShape) {
  change_tensors([](auto& records) {
    record(records, "model.layers.1.mlp.up_proj.weight").shape = {12, 10};
  });
  expect_refused_weights(
      "model.layers.1.mlp.up_proj.weight: expected the shape [10, 12], found [12, 10]");
}

TEST_F(LlamaFolder, IgnoresTensorsThatNoModelNeeds) {
  change_tensors([](auto& records) {
    records.push_back(record(records, "model.norm.weight"));
    records.back().name = "model.layers.0.self_attn.rotary_emb.inv_freq";
  });
  EXPECT_NO_THROW(load_model<LanguageModel>(path()));
}

TEST_F(LlamaFolder, NeedsNoPrefix) {
  const auto before = load_parameters(path());
  change_tensors([](auto& records) {
    for (io::TensorRecord& record : records) {
      if (record.name.starts_with("model.")) record.name = record.name.substr(6);
    }
  });
  expect_equal(load_parameters(path()), before);
}

TEST_F(LlamaFolder, HasTheTyingOfItsTensors) {
  EXPECT_EQ(load_config(path()).tying, Tying::none);
  change_tensors([](auto& records) {
    record(records, "lm_head.weight").bytes = record(records, "model.embed_tokens.weight").bytes;
  });
  EXPECT_EQ(load_config(path()).tying, Tying::all) << "equal";
  const auto tied = load_parameters(path());
  change_tensors([](auto& records) {
    std::erase_if(records, [](const auto& r) { return r.name == "model.embed_tokens.weight"; });
  });
  EXPECT_EQ(load_config(path()).tying, Tying::all) << "only the output";
  expect_equal(load_parameters(path()), tied);
}

TEST_F(LlamaFolder, IsReadFromSeveralFiles) {
  const auto before = load_parameters(path());
  const auto file = io::SafetensorsFile::load(weights());
  json index;
  for (std::size_t i = 0; i < file.tensors().size(); ++i) {
    const std::string name = "model-" + std::to_string(i) + ".safetensors";
    io::write_safetensors(path() + '/' + name, std::vector{file.tensors()[i]});
    index["weight_map"][file.tensors()[i].name] = name;
  }
  std::filesystem::remove(weights());
  folder_.write("model.safetensors.index.json", index.dump());
  expect_equal(load_parameters(path()), before);

  index["weight_map"]["model.norm.weight"] = "../model-0.safetensors";
  const std::string path_of_index = folder_.write("model.safetensors.index.json", index.dump());
  expect_error(ErrorKind::model,
               path_of_index +
                   ": weight_map.model.norm.weight: expected the name of a file in the same "
                   "folder, found ../model-0.safetensors",
               [&] { load_parameters(path()); });
}

TEST_F(LlamaFolder, IsWrittenInHalves) {
  const auto model = load_model<LanguageModel>(path());
  save_model(path(), model, WeightFormat::bf16);
  EXPECT_EQ(json::parse(io::read_file(path() + "/config.json"))["torch_dtype"], "bfloat16");
  const auto halves = parameters(load_model<LanguageModel>(path()));
  const auto again = parameters(load_model<LanguageModel>(path(), {.weights = WeightFormat::bf16}));
  expect_equal(again, halves);
}

TEST_F(LlamaFolder, IsHeedsOwnFolderOnceItIsQuantized) {
  const TemporaryFolder quantized;
  save_model(quantized.path(), load_model<LanguageModel>(path()), WeightFormat::int8);
  TransformerConfig expected = load_config(path());
  expected.family.clear();
  expected.weights = WeightFormat::int8;
  EXPECT_EQ(load_config(quantized.path()), expected);
  EXPECT_NO_THROW(load_model<LanguageModel>(quantized.path()));
}

TEST_F(LlamaFolder, IsRefusedWithAnUnknownActivation) {
  settings_["hidden_act"] = "mish";
  expect_refused_settings(
      "hidden_act: expected one of gelu, gelu_new, gelu_fast, gelu_pytorch_tanh, quick_gelu, silu, "
      "swish, relu, found \"mish\"");
}

TEST_F(LlamaFolder, IsRefusedWithAnUnknownScalingOfRope) {
  settings_["rope_scaling"] = {{"rope_type", "dynamic"}, {"factor", 2.0}};
  expect_refused_settings(
      "rope_scaling.rope_type: expected one of default, linear, llama3, yarn, found \"dynamic\"");
  settings_["rope_scaling"] = {{"type", "linear"}, {"factor", 2.0}, {"mscale", 1.0}};
  expect_refused_settings("rope_scaling.mscale: expected no such setting of RoPE, found 1.0");
}

TEST_F(LlamaFolder, IsRefusedWithAnUnknownClassOrType) {
  settings_["architectures"] = {"LlamaForSequenceClassification"};
  expect_refused_settings(
      "architectures: expected one of LlamaForCausalLM, found LlamaForSequenceClassification");
  settings_["model_type"] = "mamba";
  write_settings();
  EXPECT_THROW(load_config(path()), Error);
}

TEST_F(LlamaFolder, IsRefusedWithQuantizedWeights) {
  settings_["quantization_config"] = {{"quant_method", "gptq"}};
  expect_refused_settings(
      "quantization_config: expected weights that are not quantized, found some that are");
}

TEST_F(LlamaFolder, ReadsBothSpellingsOfRope) {
  settings_["rope_theta"] = 500.0;
  settings_["rope_scaling"] = {{"type", "linear"}, {"factor", 2.0}};
  write_settings();
  const TransformerConfig older = load_config(path());
  settings_.erase("rope_theta");
  settings_.erase("rope_scaling");
  settings_["rope_parameters"] = {{"rope_type", "linear"}, {"factor", 2.0}, {"rope_theta", 500.0}};
  write_settings();
  EXPECT_EQ(load_config(path()), older);
  EXPECT_EQ(older.rotary.base, 500);
  EXPECT_EQ(older.rotary.factor, 2);
}

TEST_F(LlamaFolder, TakesTokensFromItsGenerationConfig) {
  folder_.write("generation_config.json", R"({"eos_token_id": [7, 8], "pad_token_id": 3})");
  const text::SpecialTokens tokens = load_config(path()).tokens;
  EXPECT_EQ(tokens.ends, (std::vector{7, 8}));
  EXPECT_EQ(tokens.pad, 3);
}

TEST(FamilyConfig, HasTheDefaultsOfItsClass) {
  const TemporaryFolder folder;
  folder.write("config.json", R"({"model_type": "mistral"})");
  EXPECT_EQ(load_config(folder.path()).windows, std::vector<Index>{4096});
  EXPECT_EQ(load_config(folder.path()).num_key_value_heads, 8);
  folder.write("config.json", R"({"model_type": "mistral", "sliding_window": null})");
  EXPECT_TRUE(load_config(folder.path()).windows.empty());
  folder.write("config.json", R"({"model_type": "qwen3"})");
  EXPECT_EQ(load_config(folder.path()).head_dim, 128);
  folder.write("config.json", R"({"model_type": "bert"})");
  EXPECT_FLOAT_EQ(load_config(folder.path()).norm_epsilon, 1e-12F);
}

TEST(FamilyConfig, HasWindowsByLayer) {
  const TemporaryFolder folder;
  folder.write("config.json", R"({"model_type": "qwen2", "num_hidden_layers": 3,
      "use_sliding_window": true, "sliding_window": 8, "max_window_layers": 1})");
  EXPECT_EQ(load_config(folder.path()).windows, (std::vector<Index>{0, 8, 8}));
  folder.write("config.json", R"({"model_type": "qwen2", "num_hidden_layers": 3,
      "sliding_window": 8, "max_window_layers": 1})");
  EXPECT_TRUE(load_config(folder.path()).windows.empty());
  folder.write("config.json", R"({"model_type": "gemma2", "num_hidden_layers": 3,
      "sliding_window": 8})");
  EXPECT_EQ(load_config(folder.path()).windows, (std::vector<Index>{8, 0, 8}));
  folder.write("config.json", R"({"model_type": "gemma2", "num_hidden_layers": 2,
      "layer_types": ["full_attention", "chunked_attention"]})");
  EXPECT_THROW(load_config(folder.path()), Error);
}

TEST(SentenceFolder, IsAnEncoderWithItsPooling) {
  const TemporaryFolder folder;
  folder.write("config.json", small_settings("bert", "BertModel").dump());
  TransformerConfig config = load_config(folder.path());
  EXPECT_EQ(config.pooling, Pooling::mean);
  EXPECT_FALSE(config.normalizes);
  config.pooling = Pooling::first;
  config.normalizes = true;
  config.truncate_source = 16;
  save_model(folder.path(), Encoder(config, 5));
  EXPECT_EQ(load_config(folder.path()), config);
}

TEST(SentenceFolder, IsRefusedWithOtherModules) {
  const TemporaryFolder folder;
  folder.write("config.json", small_settings("bert", "BertModel").dump());
  const std::string path = folder.write("modules.json", R"([
      {"path": "", "type": "sentence_transformers.models.Transformer"},
      {"path": "1_Dense", "type": "sentence_transformers.models.Dense"}])");
  expect_error(ErrorKind::model,
               path + ": expected Transformer, Pooling and perhaps Normalize, found Dense",
               [&] { load_config(folder.path()); });
}

}  // namespace
}  // namespace heed::models
