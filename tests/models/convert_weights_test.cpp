#include "heed/models/convert_weights.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "heed/io/files.h"
#include "heed/models/classifier.h"
#include "heed/models/language_model.h"
#include "heed/models/model_folder.h"
#include "heed/models/translation_model.h"
#include "models/small_models.h"
#include "support/expect_error.h"
#include "support/full_disk.h"
#include "support/same_bits.h"
#include "support/temporary_folder.h"

namespace heed::models {
namespace {

text::Tokenizer letters() {
  const std::vector<std::string> lines{"abcde fghij klmno pqrst"};
  return text::Tokenizer::train(lines, {.vocabulary = 40, .subwords = text::Subwords::character});
}

// A folder with a model of floats, and room for others beside it.
struct Folders {
  TemporaryFolder folder;
  text::Tokenizer tokenizer = letters();
  TransformerConfig config = with_vocabulary(tokenizer.size());
  TranslationModel model{config, 5};

  Folders() { save_model_folder(path("f32"), model, tokenizer, {.beam_size = 3}); }
  std::string path(const std::string& name) const { return folder.file(name); }
  static TransformerConfig with_vocabulary(Index size) {
    TransformerConfig config = small_config();
    config.vocabulary = size;
    return config;
  }
};

Tensor logits_of(const std::string& folder) {
  return all_logits(load_model<TranslationModel>(folder), sample_sentences({4}),
                    sample_sentences({6}, 2));
}

TEST(ConvertWeights, EveryFormatAndBackToFloatsGivesTheSameLogits) {
  const Folders folders;
  for (const WeightFormat format : quantized_formats) {
    const std::string quantized = folders.path(std::string(name_of(format)));
    const ConvertedSizes sizes = convert_weights(folders.path("f32"), quantized, format);
    EXPECT_EQ(sizes.before, std::filesystem::file_size(folders.path("f32/model.safetensors")));
    EXPECT_EQ(sizes.after, std::filesystem::file_size(quantized + "/model.safetensors"));
    EXPECT_LT(sizes.after, sizes.before);
    const TranslationModelFolder loaded = load_model_folder<TranslationModel>(quantized);
    EXPECT_EQ(loaded.generation, (GenerationConfig{.beam_size = 3}));
    EXPECT_EQ(loaded.tokenizer.bytes(), folders.tokenizer.bytes());

    convert_weights(quantized, quantized + "-f32", WeightFormat::f32);
    EXPECT_EQ(load_config(quantized + "-f32"), folders.config);
    EXPECT_TRUE(same_bits(logits_of(quantized), logits_of(quantized + "-f32")));
    EXPECT_EQ(weights_hash(load_parameters(quantized)),
              weights_hash(load_parameters(quantized + "-f32")));
  }
}

TEST(ConvertWeights, ALanguageModelIsConvertedToo) {
  const TemporaryFolder folder;
  const text::Tokenizer tokenizer = letters();
  TransformerConfig config = Folders::with_vocabulary(tokenizer.size());
  config.kind = ModelKind::language;
  config.encoder_layers = 0;
  const LanguageModel model(config, 5);
  save_model_folder(folder.file("f32"), model, tokenizer);
  convert_weights(folder.file("f32"), folder.file("int8"), WeightFormat::int8);
  const LanguageModel loaded = load_model<LanguageModel>(folder.file("int8"));
  EXPECT_EQ(loaded.config().weights, WeightFormat::int8);
  const PackedIds ids{{4, 5, 6}, Spans::single(3)};
  auto context = nn::ForwardContext::inference();
  const LanguageModel quantized = quantize(model, WeightFormat::int8);
  EXPECT_TRUE(same_bits(loaded.logits(loaded.hidden(ids, context)),
                        quantized.logits(quantized.hidden(ids, context))));
  const LanguageBatch batch{ids, {5, 6, 7}};
  EXPECT_EQ(loaded.loss(batch, context).negative_log_likelihood,
            quantized.loss(batch, context).negative_log_likelihood);
}

TEST(ConvertWeights, RefusesToRoundASecondTimeAndToReplaceAModel) {
  const Folders folders;
  convert_weights(folders.path("f32"), folders.path("int8"), WeightFormat::int8);
  expect_error(
      ErrorKind::model,
      folders.path("int8") + ": expected weights of f32, f16 or bf16 to make int4 of, found int8",
      [&] { convert_weights(folders.path("int8"), folders.path("int4"), WeightFormat::int4); });
  EXPECT_FALSE(std::filesystem::exists(folders.path("int4")));
  expect_error(
      ErrorKind::usage, folders.path("f32") + ": expected a folder without a model, found one",
      [&] { convert_weights(folders.path("int8"), folders.path("f32"), WeightFormat::f32); });
  convert_weights(folders.path("f32"), folders.path("f16"), WeightFormat::f16);
  EXPECT_NO_THROW(
      convert_weights(folders.path("f16"), folders.path("f16-int4"), WeightFormat::int4));
}

TEST(ConvertWeights, RefusesAFolderWithAnythingInIt) {
  const Folders folders;
  const std::string to = folders.path("project");
  std::filesystem::create_directory(to);
  const auto convert = [&] { convert_weights(folders.path("f32"), to, WeightFormat::int8); };
  for (const char* name : {"config.json", "tokenizer.model", "thesis.txt", ".git"}) {
    folders.folder.write(std::string("project/") + name, "precious");
    expect_error(ErrorKind::usage,
                 to + ": expected a new or empty folder, found " + name + " in it", convert);
    EXPECT_EQ(io::read_file(to + '/' + name), "precious");
    std::filesystem::remove(to + '/' + name);
  }
  folders.folder.write("project/config.json.12-3.heed-tmp", "what a killed process left");
  convert();
  EXPECT_EQ(load_config(to).weights, WeightFormat::int8);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(to), {}), 4);
  expect_error(ErrorKind::usage, "`output`: expected a folder for the model, found an empty name",
               [&] { convert_weights(folders.path("f32"), "", WeightFormat::int8); });
}

// The disk is full when the weights are written, after everything else.
TEST(ConvertWeights, AFailureLeavesNothing) {
  const Folders folders;
  std::filesystem::create_directory(folders.path("empty"));
  const FullDisk disk(std::filesystem::file_size(folders.path("f32/model.safetensors")) / 4);
  for (const char* name : {"config.json", "tokenizer.model"}) {
    ASSERT_NO_THROW(io::write_file_atomically(folders.path("copy"),
                                              io::read_file(folders.path("f32/") + name)));
  }
  const auto convert_to = [&](const std::string& to) {
    convert_weights(folders.path("f32"), to, WeightFormat::f16);
  };
  EXPECT_THROW(convert_to(folders.path("new/f16")), Error);
  EXPECT_FALSE(std::filesystem::exists(folders.path("new")));
  EXPECT_THROW(convert_to(folders.path("empty")), Error);
  EXPECT_TRUE(std::filesystem::is_empty(folders.path("empty")));
}

TEST(ConvertToGguf, WritesANewFileOrNothing) {
  const TemporaryFolder folder;
  const text::Tokenizer tokenizer = letters();
  TransformerConfig config = Folders::with_vocabulary(tokenizer.size());
  config.kind = ModelKind::language;
  config.encoder_layers = 0;
  save_model_folder(folder.file("after"), LanguageModel(config, 5), tokenizer);
  config.norm_place = NormPlace::before;
  config.activation = Activation::gelu;
  save_model_folder(folder.file("before"), LanguageModel(config, 5), tokenizer);
  std::vector<std::string> notes;
  const auto convert = [&](const std::string& name, const std::string& to) {
    return convert_to_gguf(folder.file(name), folder.file(to), WeightFormat::f16, "", notes);
  };
  const ConvertedSizes sizes = convert("before", "new/m.gguf");
  EXPECT_EQ(sizes.after, std::filesystem::file_size(folder.file("new/m.gguf")));
  EXPECT_EQ(notes.size(), 1u);
  expect_error(ErrorKind::usage,
               folder.file("new/m.gguf") + ": expected a new file, found one that is there",
               [&] { convert("before", "new/m.gguf"); });
  EXPECT_THROW(convert("after", "other/m.gguf"), Error);
  EXPECT_FALSE(std::filesystem::exists(folder.file("other")));
}

TEST(ConvertToOnnx, WritesTheGraphWithTheTokenizerBesideItOrNothing) {
  const TemporaryFolder folder;
  const text::Tokenizer tokenizer = letters();
  TransformerConfig config = small_config(ModelKind::classifier);
  config.vocabulary = tokenizer.size();
  save_model_folder(folder.file("model"), Classifier(config, 5), tokenizer);
  const ConvertedSizes sizes =
      convert_to_onnx(folder.file("model"), folder.file("onnx"), WeightFormat::f32, "");
  EXPECT_EQ(sizes.after, std::filesystem::file_size(folder.file("onnx/model.onnx")));
  EXPECT_EQ(load_config(folder.file("onnx")), config);
  EXPECT_TRUE(std::filesystem::exists(folder.file("onnx/tokenizer.model")));
  EXPECT_THROW(convert_to_onnx(folder.file("model"), folder.file("int8"), WeightFormat::int8, ""),
               Error);
  EXPECT_FALSE(std::filesystem::exists(folder.file("int8")));
  const Folders folders;
  expect_error(
      ErrorKind::model,
      folders.path("f32") +
          ": expected a model of type heed-classifier, heed-encoder or "
          "heed-image-classifier for ONNX, found heed-translation",
      [&] { convert_to_onnx(folders.path("f32"), folders.path("onnx"), WeightFormat::f32, ""); });
}

// Its ids come from whoever runs the graph.
TEST(ConvertToOnnx, AFolderOfAnotherFamilyNeedsNoTokenizer) {
  const TemporaryFolder folder;
  TransformerConfig config = small_config(ModelKind::classifier);
  save_model(folder.file("own"), Classifier(config, 5));
  EXPECT_THROW(convert_to_onnx(folder.file("own"), folder.file("graph"), WeightFormat::f32, ""),
               Error);
  EXPECT_FALSE(std::filesystem::exists(folder.file("graph")));
  std::filesystem::create_directory(folder.file("bert"));
  folder.write("bert/config.json", R"({"model_type": "bert", "vocab_size": 19,
      "architectures": ["BertForSequenceClassification"], "hidden_size": 12,
      "intermediate_size": 10, "num_hidden_layers": 1, "num_attention_heads": 2,
      "max_position_embeddings": 24, "id2label": {"0": "cold", "1": "warm"}})");
  config = load_config(folder.file("bert"));
  save_model(folder.file("bert"), Classifier(config, 5));
  convert_to_onnx(folder.file("bert"), folder.file("onnx"), WeightFormat::f32, "");
  EXPECT_TRUE(std::filesystem::exists(folder.file("onnx/model.onnx")));
  EXPECT_EQ(load_config(folder.file("onnx")), config);
}

}  // namespace
}  // namespace heed::models
