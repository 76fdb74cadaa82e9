#include "heed/models/model_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "heed/base/error.h"
#include "heed/io/files.h"
#include "heed/io/safetensors.h"
#include "heed/models/classifier.h"
#include "heed/models/masked_model.h"
#include "heed/models/tagger.h"
#include "heed/models/translation_model.h"
#include "models/small_models.h"
#include "support/expect_error.h"
#include "support/same_bits.h"
#include "support/sample.h"
#include "support/temporary_folder.h"

namespace heed::models {
namespace {

text::Tokenizer letters() {
  const std::vector<std::string> lines{"abcde fghij klmno pqrst"};
  return text::Tokenizer::train(lines, {.vocabulary = 40, .subwords = text::Subwords::character});
}

TransformerConfig config_for(const text::Tokenizer& tokenizer) {
  TransformerConfig config = small_config();
  config.vocabulary = tokenizer.size();
  return config;
}

// A folder with a whole model in it.
struct SavedModel {
  TemporaryFolder folder;
  text::Tokenizer tokenizer = letters();
  TranslationModel model{config_for(tokenizer), 5};
  std::string path = folder.file("model");
  SavedModel() { save_model_folder(path, model, tokenizer, {.beam_size = 3}); }
};

TEST(ModelFolder, SaveThenLoadGivesEqualOutputAndEqualHash) {
  for (TransformerConfig config : small_configs()) {
    const TemporaryFolder folder;
    const text::Tokenizer tokenizer = letters();
    config.vocabulary = tokenizer.size();
    const TranslationModel model(config, 5);
    save_model_folder(folder.path(), model, tokenizer);
    const TranslationModelFolder loaded = load_model_folder<TranslationModel>(folder.path());
    EXPECT_EQ(loaded.model.config(), config);
    EXPECT_TRUE(
        same_bits(all_logits(model, sample_sentences({4}), sample_sentences({6}, 2)),
                  all_logits(loaded.model, sample_sentences({4}), sample_sentences({6}, 2))));
    EXPECT_EQ(weights_hash(parameters(model)), weights_hash(parameters(loaded.model)));
  }
}

TEST(ModelFolder, OfAClassifierGivesEqualOutputAndTheSameLabels) {
  const auto lines = infer::pack_sources(sample_sentences({4, 2}));
  auto context = nn::ForwardContext::inference();
  for (const Choice<Pooling>& pooling : choices<Pooling>()) {
    const TemporaryFolder folder;
    const text::Tokenizer tokenizer = letters();
    TransformerConfig config = small_config(ModelKind::classifier);
    config.vocabulary = tokenizer.size();
    config.pooling = pooling.value;
    const Classifier model(config, 5);
    save_model_folder(folder.path(), model, tokenizer);
    const ClassifierFolder loaded = load_model_folder<Classifier>(folder.path());
    EXPECT_EQ(loaded.model.config(), config);
    EXPECT_TRUE(same_bits(model.logits(lines, context), loaded.model.logits(lines, context)));
    EXPECT_EQ(weights_hash(parameters(model)), weights_hash(load_parameters(folder.path())));
  }
}

TEST(ModelFolder, OfATaggerGivesEqualOutputAndTheSameTags) {
  const TemporaryFolder folder;
  const text::Tokenizer tokenizer = letters();
  TransformerConfig config = small_config(ModelKind::tagger);
  config.vocabulary = tokenizer.size();
  const Tagger model(config, 5);
  save_model_folder(folder.path(), model, tokenizer);
  const TaggerFolder loaded = load_model_folder<Tagger>(folder.path());
  EXPECT_EQ(loaded.model.config(), config);
  const auto lines = infer::pack_sources(sample_sentences({4, 2}));
  const std::vector<Index> places{0, 2, 5};
  auto context = nn::ForwardContext::inference();
  EXPECT_TRUE(
      same_bits(model.logits(lines, places, context), loaded.model.logits(lines, places, context)));
  EXPECT_EQ(weights_hash(parameters(model)), weights_hash(load_parameters(folder.path())));
}

// A model of the letters above, with a mask or without.
MaskedModelFolder masked_letters(bool with_mask) {
  const std::vector<std::string> lines{"abcde fghij klmno pqrst"};
  const auto tokenizer = text::Tokenizer::train(
      lines, {.vocabulary = 40, .subwords = text::Subwords::character, .with_mask = with_mask});
  TransformerConfig config = small_config(ModelKind::masked);
  config.vocabulary = tokenizer.size();
  return {MaskedModel(config, 5), tokenizer};
}

TEST(ModelFolder, OfAMaskedModelGivesEqualOutput) {
  const TemporaryFolder folder;
  const MaskedModelFolder saved = masked_letters(true);
  save_model_folder(folder.path(), saved.model, saved.tokenizer);
  const MaskedModelFolder loaded = load_model_folder<MaskedModel>(folder.path());
  const auto lines = infer::pack_sources(sample_sentences({4, 2}));
  auto context = nn::ForwardContext::inference();
  EXPECT_TRUE(same_bits(saved.model.encode(lines, context).values,
                        loaded.model.encode(lines, context).values));
  EXPECT_EQ(weights_hash(parameters(saved.model)), weights_hash(load_parameters(folder.path())));
}

TEST(ModelFolder, RefusesAMaskedModelWhoseTokenizerHasNoMask) {
  const TemporaryFolder folder;
  const MaskedModelFolder saved = masked_letters(false);
  save_model_folder(folder.path(), saved.model, saved.tokenizer);
  expect_error(ErrorKind::model,
               folder.file("tokenizer.model") + ": expected a piece <mask>, found none",
               [&] { load_model_folder<MaskedModel>(folder.path()); });
}

// The tokenizer files of a BERT, and a model of ours with more rows than it has pieces.
MaskedModelFolder masked_word_pieces(const TemporaryFolder& files, Index num_rows) {
  files.write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ndog\n##s\n");
  files.write("tokenizer_config.json", R"({"tokenizer_class": "BertTokenizer"})");
  const auto tokenizer = text::Tokenizer::load_folder(files.path());
  TransformerConfig config = small_config(ModelKind::masked);
  config.vocabulary = num_rows;
  config.tokens = tokenizer.tokens();
  return {MaskedModel(config, 5), tokenizer};
}

TEST(ModelFolder, KeepsTheTokenizerFilesOfAnotherFamily) {
  const TemporaryFolder files, folder;
  const MaskedModelFolder saved = masked_word_pieces(files, 10);
  save_model_folder(folder.path(), saved.model, saved.tokenizer);
  EXPECT_FALSE(io::is_file(folder.file("tokenizer.model")));
  const MaskedModelFolder loaded = load_model_folder<MaskedModel>(folder.path());
  EXPECT_EQ(loaded.tokenizer.files(), saved.tokenizer.files());
  EXPECT_EQ(loaded.tokenizer.tokens(), saved.tokenizer.tokens());
  EXPECT_EQ(loaded.tokenizer.sequence(), saved.tokenizer.sequence());
  EXPECT_EQ(loaded.tokenizer.encode("the dogs"), (std::vector<int>{5, 6, 7}));
  EXPECT_EQ(loaded.tokenizer.decode(std::vector<int>{5, 6, 9}), "the dog");
}

TEST(ModelFolder, RefusesATokenizerWithMoreTokensThanTheModelHasRows) {
  const TemporaryFolder files, folder;
  const MaskedModelFolder saved = masked_word_pieces(files, 7);
  save_model_folder(folder.path(), saved.model, saved.tokenizer);
  expect_error(ErrorKind::model,
               folder.file("vocab.txt") + ": expected at most the 7 pieces of config.json, found 8",
               [&] { load_model_folder<MaskedModel>(folder.path()); });
}

TEST(ModelFolder, RefusesAModelOfAnotherKind) {
  const SavedModel saved;
  expect_error(ErrorKind::model,
               saved.path + ": expected a model of type heed-classifier, found heed-translation",
               [&] { load_model_folder<Classifier>(saved.path); });
  EXPECT_EQ(weights_hash(load_parameters(saved.path)), weights_hash(parameters(saved.model)));
}

TEST(ModelFolder, KeepsTheTokenizerAndHowToDecode) {
  const SavedModel saved;
  const TranslationModelFolder loaded = load_model_folder<TranslationModel>(saved.path);
  EXPECT_EQ(loaded.tokenizer.bytes(), saved.tokenizer.bytes());
  EXPECT_EQ(loaded.generation, (GenerationConfig{.beam_size = 3}));
}

TEST(ModelFolder, LeavesNothingButItsFourFiles) {
  const SavedModel saved;
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(saved.path)) {
    files.push_back(entry.path().filename());
  }
  std::ranges::sort(files);
  EXPECT_EQ(files, (std::vector<std::string>{"config.json", "generation_config.json",
                                             "model.safetensors", "tokenizer.model"}));
}

TEST(ModelFolder, RefusesAFolderThatIsNotAModel) {
  const TemporaryFolder folder;
  expect_error(ErrorKind::model,
               folder.path() + ": expected a model folder with config.json, found none",
               [&] { load_model_folder<TranslationModel>(folder.path()); });
  expect_error(ErrorKind::model, folder.file("no") + ": expected a model folder, found nothing",
               [&] { load_model_folder<TranslationModel>(folder.file("no")); });
}

TEST(ModelFolder, RefusesAModelWithoutItsTokenizerOrWithAnother) {
  const SavedModel saved;
  const std::string tokenizer = saved.path + "/tokenizer.model";
  const std::vector<std::string> lines{"ab"};
  const text::Tokenizer other =
      text::Tokenizer::train(lines, {.vocabulary = 40, .subwords = text::Subwords::character});
  io::write_file_atomically(tokenizer, other.bytes());
  expect_error(ErrorKind::model,
               tokenizer + ": expected the " + std::to_string(saved.tokenizer.size()) +
                   " pieces of config.json, found " + std::to_string(other.size()),
               [&] { load_model_folder<TranslationModel>(saved.path); });
  std::filesystem::remove(tokenizer);
  expect_error(ErrorKind::model,
               saved.path +
                   ": expected a model folder with one of tokenizer.model, source.spm, "
                   "tokenizer.json, spiece.model, merges.txt, vocab.txt, found none",
               [&] { load_model_folder<TranslationModel>(saved.path); });
}

// Writes the weights again after a change to the list of tensors.
template <typename Change>
void rewrite_weights(const SavedModel& saved, Change&& change) {
  const std::string path = saved.path + "/model.safetensors";
  const auto file = io::SafetensorsFile::load(path);
  std::vector<io::TensorRecord> records = file.tensors();
  change(records);
  io::write_safetensors(path, records);
}

TEST(ModelFolder, RefusesATensorThatIsMissingSurplusOrOfAnotherShape) {
  const SavedModel saved;
  const std::string path = saved.path + "/model.safetensors";
  const auto message_of = [&] {
    try {
      load_model<TranslationModel>(saved.path);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::model);
      return std::string(error.what());
    }
    return std::string("nothing");
  };

  rewrite_weights(saved, [](auto& records) {
    std::erase_if(records,
                  [](const auto& r) { return r.name == "decoder.0.self_attention.key.bias"; });
  });
  EXPECT_NE(message_of().find("decoder.0.self_attention.key.bias"), std::string::npos)
      << message_of();

  save_weights(saved.path, parameters(saved.model));
  rewrite_weights(saved, [](auto& records) {
    records.push_back(records.front());
    records.back().name = "surplus";
  });
  EXPECT_EQ(message_of(), path + ": expected the parameters of the model, found also surplus");

  save_weights(saved.path, parameters(saved.model));
  rewrite_weights(saved, [](auto& records) {
    for (auto& record : records) {
      if (record.name == "encoder.0.feed_forward.hidden.weight") record.shape = {16, 24};
    }
  });
  EXPECT_EQ(message_of(), path +
                              ": encoder.0.feed_forward.hidden.weight: expected the shape [24, "
                              "16], found [16, 24]");
}

TEST(ModelFolder, RefusesAConfigurationFarLargerThanItsWeightsBeforeItBuildsIt) {
  const SavedModel saved;
  TransformerConfig config = saved.model.config();
  config.model_dim = config.feed_forward_dim = Index{1} << 23;
  io::write_file_atomically(saved.path + "/config.json", to_json(config));
  try {
    load_model<TranslationModel>(saved.path);
    ADD_FAILURE() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::model);
    EXPECT_NE(std::string(error.what()).find("numbers of config.json"), std::string::npos);
  }
}

TEST(ModelFolder, QuantizedWeightsComeBackAsTheyWere) {
  for (const WeightFormat format : quantized_formats) {
    for (TransformerConfig config : small_configs()) {
      const TemporaryFolder folder;
      const text::Tokenizer tokenizer = letters();
      config.vocabulary = tokenizer.size();
      const TranslationModel model(config, 5), quantized = quantize(model, format);
      save_model_folder(folder.path(), model, tokenizer, {}, format);
      const TranslationModelFolder loaded = load_model_folder<TranslationModel>(folder.path());
      EXPECT_EQ(loaded.model.config().weights, format);
      EXPECT_TRUE(
          same_bits(all_logits(quantized, sample_sentences({4}), sample_sentences({6}, 2)),
                    all_logits(loaded.model, sample_sentences({4}), sample_sentences({6}, 2))));
      EXPECT_EQ(weights_hash(load_parameters(folder.path())), weights_hash(parameters(quantized)));
    }
  }
}

// A folder with weights of int4 or int8, and one tensor of it changed by `change`.
template <typename Change>
std::string message_after(WeightFormat format, const std::string& name, Change&& change) {
  const SavedModel saved;
  save_model_folder(saved.path, saved.model, saved.tokenizer, {}, format);
  rewrite_weights(saved, [&](auto& records) {
    for (auto& record : records) {
      if (record.name == name) change(record);
    }
  });
  try {
    load_model<TranslationModel>(saved.path);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::model);
    return std::string(error.what()).substr(saved.path.size() + 1);
  }
  return "nothing";
}

TEST(ModelFolder, RefusesWeightsOfAnotherTypeAndScalesThatDoNotFit) {
  const std::string name = "encoder.0.feed_forward.hidden.weight";  // [24, 16]
  const std::string prefix = "model.safetensors: " + name;
  EXPECT_EQ(message_after(WeightFormat::int8, name, [](auto& r) { r.dtype = io::DType::u8; }),
            prefix + ": expected I8 for weights of int8, found U8");
  EXPECT_EQ(message_after(WeightFormat::f16, name, [](auto& r) { r.dtype = io::DType::bf16; }),
            prefix + ": expected F16 for weights of f16, found BF16");
  EXPECT_EQ(message_after(WeightFormat::int4, name,
                          [](auto& r) {
                            r.shape = {48, 4};
                          }),
            prefix + ": expected the shape [24, 8], found [48, 4]");
  EXPECT_EQ(message_after(WeightFormat::int8, name + ".scale",
                          [](auto& r) {
                            r.shape = {4, 6};
                          }),
            prefix + ".scale: expected the shape [24], found [4, 6]");
  EXPECT_EQ(message_after(WeightFormat::int4, name + ".scale", [](auto& r) { r.shape = {24}; }),
            prefix + ".scale: expected the shape [24, 1], found [24]");
  EXPECT_EQ(message_after(WeightFormat::int8, name + ".scale", [](auto& r) { r.name += "s"; }),
            "model.safetensors: expected a tensor named " + name + ".scale, found none");
  const std::vector<float> infinite(24, std::numeric_limits<float>::infinity());
  EXPECT_EQ(message_after(WeightFormat::int8, name + ".scale",
                          [&](auto& r) { r.bytes = std::as_bytes(std::span(infinite)); }),
            prefix + ".scale[0]: expected a finite weight, found inf");
}

TEST(ModelFolder, RefusesWeightsThatAreNotFiniteWithTensorAndPlace) {
  const SavedModel saved;
  const std::string name = "encoder.0.feed_forward.hidden.weight";  // [24, 16]
  for (const float wrong : {std::nanf(""), INFINITY, -INFINITY}) {
    std::vector<float> values(24 * 16, 0.5f);
    values[77] = wrong;
    save_weights(saved.path, parameters(saved.model));
    rewrite_weights(saved, [&](auto& records) {
      for (auto& record : records) {
        if (record.name == name) record.bytes = std::as_bytes(std::span(values));
      }
    });
    std::ostringstream message;
    message << saved.path << "/model.safetensors: " << name
            << "[77]: expected a finite weight, found " << wrong;
    expect_error(ErrorKind::model, message.str(), [&] { load_parameters(saved.path); });
  }
}

TEST(ModelFolder, RefusesQuantizedWeightsThatAreNotFinite) {
  const std::string name = "encoder.0.feed_forward.hidden.weight";  // [24, 16]
  const std::string prefix = "model.safetensors: " + name;
  std::vector<std::uint16_t> halves(24 * 16, 0x3c00);
  halves[5] = 0x7c01;
  EXPECT_EQ(message_after(WeightFormat::f16, name,
                          [&](auto& r) { r.bytes = std::as_bytes(std::span(halves)); }),
            prefix + "[5]: expected a finite weight, found nan");
  halves[5] = 0xff80;
  EXPECT_EQ(message_after(WeightFormat::bf16, name,
                          [&](auto& r) { r.bytes = std::as_bytes(std::span(halves)); }),
            prefix + "[5]: expected a finite weight, found -inf");
}

TEST(ModelFolder, IsNotWrittenWithWeightsThatAreNotFinite) {
  const TemporaryFolder folder;
  const text::Tokenizer tokenizer = letters();
  TranslationModel model(config_for(tokenizer), 5);
  nn::named_parameters(model)[1].value.values()[3] = NAN;
  for (const WeightFormat format : {WeightFormat::f32, WeightFormat::int8}) {
    const std::string path = folder.file("model");
    try {
      save_model_folder(path, model, tokenizer, {}, format);
      ADD_FAILURE() << "expected an error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::model);
      EXPECT_TRUE(std::string(error.what()).ends_with("[3]: expected a finite weight, found nan"))
          << error.what();
    }
    EXPECT_FALSE(std::filesystem::exists(path));
  }
}

TEST(ModelFolder, EveryFormatHasAChecksumAndAFlippedBitIsRefused) {
  for (const WeightFormat format : {WeightFormat::f32, WeightFormat::f16, WeightFormat::int8}) {
    const SavedModel saved;
    save_model_folder(saved.path, saved.model, saved.tokenizer, {}, format);
    const std::string path = weights_path(saved.path);
    EXPECT_TRUE(io::SafetensorsFile::load(path).has_checksum());
    std::string bytes = io::read_file(path);
    bytes[bytes.size() - 100] ^= 1;
    io::write_file_atomically(path, bytes);
    try {
      load_model<TranslationModel>(saved.path);
      ADD_FAILURE() << "expected an error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::model);
      EXPECT_TRUE(std::string(error.what()).starts_with(path + ": expected contents of the che"))
          << error.what();
    }
  }
}

TEST(ModelFolder, RefusesFilesThatAreTooLargeAtOnce) {
  for (const char* name : {"config.json", "generation_config.json", "tokenizer.model"}) {
    const SavedModel saved;
    const std::string path = saved.path + '/' + name;
    std::filesystem::resize_file(path, std::uintmax_t{20} << 30);  // sparse
    expect_error(ErrorKind::model,
                 path + ": expected a file of at most 67108864 bytes, found 21474836480",
                 [&] { load_model_folder<TranslationModel>(saved.path); });
  }
  const SavedModel saved;
  const std::string path = weights_path(saved.path);
  std::filesystem::resize_file(path, std::uintmax_t{20} << 30);
  EXPECT_THROW(load_model_folder<TranslationModel>(saved.path), Error);
}

TEST(ModelFolder, RefusesMoreDataThanItsParametersTake) {
  const SavedModel saved;
  const std::string path = weights_path(saved.path);
  const std::string header = R"({"w":{"dtype":"U8","shape":[21474836480],)"
                             R"("data_offsets":[0,21474836480]}})";
  const std::uint64_t length = header.size();
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(&length), 8) << header;
  std::filesystem::resize_file(path, 8 + header.size() + (std::uintmax_t{20} << 30));
  const Index bound = 8 * num_parameters(saved.model.config()) + (1 << 20);
  expect_error(
      ErrorKind::model,
      path + ": expected at most " + std::to_string(bound) + " bytes of data, found 21474836480",
      [&] { load_model<TranslationModel>(saved.path); });
}

TEST(ModelFolder, RefusesWhatIsNoRegularFileAndNeverWaitsForIt) {
  const std::pair<const char*, const char*> wrong[] = {
      {"pipe", ": expected a file, found a pipe"},
      {"folder", ": expected a file, found a folder"},
      {"device", ": expected a file, found a device"},
      {"loop", ": cannot be read: Too many levels of symbolic links"},
      {"nowhere", ": cannot be read: No such file or directory"}};
  for (const char* name :
       {"config.json", "generation_config.json", "tokenizer.model", "model.safetensors"}) {
    for (const auto& [what, reason] : wrong) {
      const SavedModel saved;
      const std::string path = saved.path + '/' + name, kind = what;
      std::filesystem::remove(path);
      if (kind == "pipe") {
        ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
      }
      if (kind == "folder") std::filesystem::create_directory(path);
      if (kind == "device") std::filesystem::create_symlink("/dev/zero", path);
      if (kind == "loop") std::filesystem::create_symlink(path, path);
      if (kind == "nowhere") std::filesystem::create_symlink(path + ".none", path);
      expect_error(ErrorKind::model, path + reason,
                   [&] { load_model_folder<TranslationModel>(saved.path); });
    }
  }
}

TEST(ModelFolder, RefusesDecodingSettingsBeyondTheirBounds) {
  const SavedModel saved;
  const std::string path = saved.path + "/generation_config.json";
  const auto refused = [&](const std::string& json, const std::string& reason) {
    io::write_file_atomically(path, json);
    expect_error(ErrorKind::model, path + ": " + reason,
                 [&] { load_generation_config(saved.path); });
  };
  refused(R"({"num_beams": 1001})", "num_beams: expected an integer from 1 to 1000, found 1001");
  refused(R"({"num_beams": 4611686018427387904})",
          "num_beams: expected an integer from 1 to 1000, found 4611686018427387904");
  refused(R"({"max_length": 1048577})",
          "max_length: expected an integer from 0 to 1048576, found 1048577");
  refused(R"({"length_penalty": 1e300})",
          "length_penalty: expected a number from -10 to 10, found 1e+300");
}

TEST(ModelFolder, RefusesWeightsOfAnotherFormatThanTheConfiguration) {
  const SavedModel saved;
  const auto load_with = [&](WeightFormat format) {
    TransformerConfig config = saved.model.config();
    config.weights = format;
    io::write_file_atomically(saved.path + "/config.json", to_json(config));
    load_model<TranslationModel>(saved.path);
  };
  const std::string prefix = saved.path + "/model.safetensors: embedding.weight: ";
  expect_error(ErrorKind::model, prefix + "expected I8 for weights of int8, found F32",
               [&] { load_with(WeightFormat::int8); });
  save_weights(saved.path, parameters(saved.model), WeightFormat::int8);
  expect_error(ErrorKind::model, prefix + "expected floating-point numbers, found I8",
               [&] { load_with(WeightFormat::f32); });
}

TEST(WeightsHash, KnowsEveryBitNameAndShapeAndNotTheOrder) {
  const auto hash = [](std::vector<nn::NamedTensor> parameters) {
    return weights_hash(parameters);
  };
  const Tensor x = sample({2, 3}), y = sample({3});
  const std::string plain = hash({{"x", x}, {"y", y}});
  EXPECT_EQ(plain.size(), std::string("sha256:").size() + 64);
  EXPECT_EQ(plain, hash({{"y", y}, {"x", x}}));
  EXPECT_NE(plain, hash({{"x", x}, {"z", y}}));
  EXPECT_NE(plain, hash({{"x", x.view({3, 2})}, {"y", y}}));
  Tensor changed = x.clone();
  changed.values()[5] = std::nextafter(changed.values()[5], 10.0f);
  EXPECT_NE(plain, hash({{"x", changed}, {"y", y}}));
}

}  // namespace
}  // namespace heed::models
