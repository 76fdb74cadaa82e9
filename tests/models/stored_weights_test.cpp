#include "heed/models/stored_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <limits>
#include <span>
#include <string>

#include "heed/base/half.h"
#include "heed/core/storage.h"
#include "heed/models/convert_weights.h"
#include "heed/models/language_model.h"
#include "heed/models/model_folder.h"
#include "models/packed_alone.h"
#include "models/small_models.h"
#include "support/expect_error.h"
#include "support/same_bits.h"
#include "support/temporary_folder.h"

namespace heed::models {
namespace {

text::Tokenizer letters() {
  const std::vector<std::string> lines{"abcde fghij klmno pqrst"};
  return text::Tokenizer::train(lines, {.vocabulary = 40, .subwords = text::Subwords::character});
}

// A folder with a model of floats, and room for others beside it.
struct SavedModel {
  TemporaryFolder folder;
  text::Tokenizer tokenizer = letters();
  TransformerConfig config;

  explicit SavedModel(TransformerConfig of_model = small_config()) : config(std::move(of_model)) {
    config.vocabulary = tokenizer.size();
    save_model_folder(path("f32"), TranslationModel(config, 5), tokenizer);
  }
  std::string path(const std::string& name) const { return folder.file(name); }
};

Tensor logits(const TranslationModel& model) {
  return all_logits(model, sample_sentences({4, 7}), sample_sentences({6, 3}, 2));
}

TranslationModel load(const std::string& folder, const LoadOptions& options = {}) {
  return load_model<TranslationModel>(folder, options);
}

constexpr LoadOptions inference{.for_inference = true};

TEST(StoredWeights, ForInferenceEveryWeightIsThereOnceAndTheBitsAreTheSame) {
  for (const TransformerConfig& config : small_configs()) {
    const SavedModel saved(config);
    const TranslationModel model = load(saved.path("f32"), inference);
    EXPECT_EQ(model.config(), saved.config);
    expect_packed_alone(model, WeightFormat::f32);
    EXPECT_TRUE(same_bits(logits(model), logits(load(saved.path("f32")))));
    EXPECT_EQ(weights_hash(parameters(model)), weights_hash(load_parameters(saved.path("f32"))));
  }
}

TEST(StoredWeights, QuantizingOnLoadEqualsConvertingFirst) {
  const SavedModel saved;
  for (const WeightFormat format : quantized_formats) {
    const std::string name(name_of(format));
    convert_weights(saved.path("f32"), saved.path(name), format);
    const TranslationModel converted = load(saved.path(name));
    for (const bool for_inference : {false, true}) {
      const TranslationModel model =
          load(saved.path("f32"), {.for_inference = for_inference, .weights = format});
      EXPECT_EQ(model.config(), converted.config());
      expect_packed_alone(model, format);
      EXPECT_TRUE(same_bits(logits(model), logits(converted)));
      EXPECT_EQ(weights_hash(parameters(model)), weights_hash(parameters(converted)));
    }
    EXPECT_TRUE(same_bits(logits(load(saved.path(name), inference)), logits(converted)));
  }
}

TEST(StoredWeights, QuantizedOnesAreDequantizedOnLoad) {
  const SavedModel saved;
  for (const WeightFormat format : quantized_formats) {
    const std::string path = saved.path(std::string(name_of(format)));
    convert_weights(saved.path("f32"), path, format);
    TranslationModel floats = load(path, {.weights = WeightFormat::f32});
    EXPECT_EQ(floats.config(), saved.config);
    for (const nn::NamedTensor& parameter : nn::named_parameters(floats)) {
      EXPECT_TRUE(parameter.value.needs_gradient()) << parameter.name;
    }
    const TranslationModel packed =
        load(path, {.for_inference = true, .weights = WeightFormat::f32});
    expect_packed_alone(packed, WeightFormat::f32);
    EXPECT_TRUE(same_bits(logits(floats), logits(load(path))));
    EXPECT_TRUE(same_bits(logits(packed), logits(load(path))));
  }
}

TEST(StoredWeights, IntegersAreNotRoundedAgain) {
  const SavedModel saved;
  convert_weights(saved.path("f32"), saved.path("int8"), WeightFormat::int8);
  expect_error(
      ErrorKind::model,
      saved.path("int8") + ": expected weights of f32, f16 or bf16 to make int4 of, found int8",
      [&] { load(saved.path("int8"), {.weights = WeightFormat::int4}); });
  EXPECT_NO_THROW(load(saved.path("int8"), {.weights = WeightFormat::int8}));
}

// Replaces all tensors by halves, as other programs store a whole model.
void store_halves(const std::string& folder, io::DType dtype) {
  const auto file = io::SafetensorsFile::load(weights_path(folder));
  std::deque<std::vector<std::uint16_t>> halves;
  std::vector<io::TensorRecord> records;
  for (const io::TensorRecord& record : file.tensors()) {
    std::vector<std::uint16_t>& numbers = halves.emplace_back();
    for (const float value : file.to_floats(record)) {
      numbers.push_back(dtype == io::DType::f16 ? float_to_float16(value)
                                                : float_to_bfloat16(value));
    }
    records.push_back({record.name, dtype, record.shape, std::as_bytes(std::span(numbers))});
  }
  io::write_safetensors(weights_path(folder), records);
}

TEST(StoredWeights, HalvesAreHeldAsTheyAreForInferenceAndAreFloatsForTraining) {
  for (const auto& [dtype, format] : {std::pair(io::DType::f16, WeightFormat::f16),
                                      std::pair(io::DType::bf16, WeightFormat::bf16)}) {
    const SavedModel saved;
    store_halves(saved.path("f32"), dtype);
    const TranslationModel model = load(saved.path("f32"), inference);
    expect_packed_alone(model, format);
    TranslationModel floats = load(saved.path("f32"));
    EXPECT_TRUE(same_bits(logits(model), logits(floats)));
    for (const nn::NamedTensor& parameter : nn::named_parameters(floats)) {
      EXPECT_TRUE(parameter.value.needs_gradient()) << parameter.name;
    }
    const LoadOptions int8{.for_inference = true, .weights = WeightFormat::int8};
    EXPECT_TRUE(same_bits(logits(load(saved.path("f32"), int8)),
                          logits(quantize(floats, WeightFormat::int8))));
  }
}

// A language model with one table that is packed in several pieces.
struct LargeTable {
  static constexpr Index vocabulary = 150'000, dim = 64;
  TemporaryFolder folder;

  LargeTable() {
    TransformerConfig config = small_config(ModelKind::language);
    config.vocabulary = vocabulary;
    config.model_dim = dim;
    LanguageModel model(config, 5);
    save_config(folder.path(), config);
    save_weights(folder.path(), nn::named_parameters(model));
  }
};

TEST(StoredWeights, AWeightThatIsNotFiniteIsNamedByItsPlaceInTheWholeTensor) {
  const LargeTable saved;
  const std::string path = weights_path(saved.folder.path());
  const auto file = io::SafetensorsFile::load(path);
  std::vector<io::TensorRecord> records = file.tensors();
  std::vector<float> table = file.to_floats(file.require("embedding.weight"));
  const std::size_t place = 100'000 * LargeTable::dim + 7;
  table[place] = std::numeric_limits<float>::infinity();
  for (io::TensorRecord& record : records) {
    if (record.name == "embedding.weight") record.bytes = std::as_bytes(std::span(table));
  }
  io::write_safetensors(path, records);
  const std::string message = path + ": embedding.weight[" + std::to_string(place) +
                              "]: expected a finite weight, found inf";
  for (const LoadOptions& options : {LoadOptions{}, inference}) {
    expect_error(ErrorKind::model, message,
                 [&] { load_model<LanguageModel>(saved.folder.path(), options); });
  }
}

// A line of /proc/self/status in bytes: RssFile are the pages of mapped files.
Index status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ':')) return std::stoll(line.substr(name.size() + 1)) * 1024;
  }
  return 0;
}

TEST(StoredWeights, LoadingHoldsTheWeightsOnceAndLetsTheFileGo) {
  const LargeTable saved;
  const Index table_bytes = LargeTable::vocabulary * LargeTable::dim * Index{sizeof(float)};
  constexpr Index slack = Index{9} << 20;  // a chunk of floats, and one of the file
  const auto peak_of = [&](const LoadOptions& options) {
    const Index before = tensor_bytes(), file_bytes = status_bytes("RssFile");
    reset_peak_tensor_bytes();
    const auto model = load_model<LanguageModel>(saved.folder.path(), options);
    EXPECT_LT(status_bytes("RssFile") - file_bytes, slack);
    return peak_tensor_bytes() - before;
  };
  EXPECT_LT(peak_of({}), table_bytes + slack);
  EXPECT_LT(peak_of(inference), table_bytes + slack);
  EXPECT_LT(peak_of({.for_inference = true, .weights = WeightFormat::f16}),
            table_bytes / 2 + slack);
  EXPECT_LT(peak_of({.for_inference = true, .weights = WeightFormat::int8}),
            table_bytes / 4 + table_bytes / LargeTable::dim + slack);
}

}  // namespace
}  // namespace heed::models
