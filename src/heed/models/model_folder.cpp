#include "heed/models/model_folder.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <sstream>

#include "heed/base/cancellation.h"
#include "heed/base/error.h"
#include "heed/io/files.h"
#include "heed/io/json_fields.h"
#include "heed/io/require_memory.h"
#include "heed/io/safetensors.h"
#include "heed/io/sha256.h"
#include "heed/models/family_folder.h"
#include "heed/models/finite_weights.h"
#include "heed/models/model_kinds.h"
#include "heed/models/stored_weights.h"

namespace heed::models {
namespace {

static_assert(std::endian::native == std::endian::little,
              "weights_hash and safetensors take the bytes of floats as they are in memory");

std::string config_path(const std::string& folder) { return folder + "/config.json"; }

// "DIR: expected a model folder with config.json, found none"
void require_part(const std::string& folder, const std::string& path) {
  io::require_folder(folder, "a model folder", ErrorKind::model);
  check_as(ErrorKind::model, io::is_there(path, ErrorKind::model), folder,
           ": expected a model folder with ", path.substr(folder.size() + 1), ", found none");
}

// What the weights of this many parameters take at most, in a file of the widest type. A file with
// more is refused before memory is taken for it.
std::uint64_t max_data_bytes(Index num_parameters) {
  constexpr std::uint64_t slack = 1 << 20, most = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t bytes_each = io::dtype_bytes(io::DType::f64);
  const auto count = static_cast<std::uint64_t>(num_parameters);
  return count < (most - slack) / bytes_each ? count * bytes_each + slack : most;
}

// A configuration that asks for far more numbers than the file holds would make us allocate them
// first and refuse them later.
void check_size(const io::SafetensorsFile& file, const TransformerConfig& config,
                Index num_parameters) {
  constexpr Index slack = Index{1} << 26;
  Index num_stored = 0;
  for (const io::TensorRecord& record : file.tensors()) {
    const bool is_pairs = config.weights == WeightFormat::int4 && record.dtype == io::DType::u8;
    const Index count = static_cast<Index>(record.bytes.size() / io::dtype_bytes(record.dtype));
    num_stored += is_pairs ? 2 * count : count;
  }
  check_as(ErrorKind::model, num_parameters <= num_stored + slack, file.source(), ": expected the ",
           num_parameters, " numbers of config.json, found ", num_stored);
}

}  // namespace

std::string weights_path(const std::string& folder) { return folder + "/model.safetensors"; }

TransformerConfig load_config(const std::string& folder) {
  require_part(folder, config_path(folder));
  const std::string path = config_path(folder);
  const std::string text = io::read_file(path, ErrorKind::model, io::max_config_bytes);
  const auto json = io::JsonFields::parse(text, path);
  if (is_of_family(json)) return load_family_config(folder, json);
  return transformer_config_from_json(text, path);
}

void save_config(const std::string& folder, const TransformerConfig& config) {
  if (!config.family.empty()) return save_family_config(folder, config, config.weights);
  io::write_file_atomically(config_path(folder), to_json(config));
}

namespace {

// The file that has the pieces.
std::string main_file(const text::Tokenizer& tokenizer) {
  for (const char* name : text::Tokenizer::file_names()) {
    if (tokenizer.files().contains(name)) return name;
  }
  return {};
}

void check_vocabulary(const std::string& folder, const text::Tokenizer& tokenizer,
                      const TransformerConfig& config) {
  // Other families round the rows of their models up.
  const bool fits = tokenizer.is_own() ? tokenizer.size() == config.vocabulary
                                       : tokenizer.size() <= config.vocabulary;
  const std::string path = folder + '/' + main_file(tokenizer);
  check_as(ErrorKind::model, fits, path, ": expected ",
           tokenizer.is_own() ? "the " : "at most the ", config.vocabulary,
           " pieces of config.json, found ", tokenizer.size());
  check_as(ErrorKind::model, config.kind != ModelKind::masked || tokenizer.mask().has_value(), path,
           ": expected a piece ", text::Tokenizer::mask_piece, ", found none");
}

// As a model is saved. Only Heed's own layout has int8 and int4.
TransformerConfig saved_config(TransformerConfig config, WeightFormat weights) {
  config.weights = weights;
  if (weights == WeightFormat::int8 || weights == WeightFormat::int4) config.family.clear();
  return config;
}

// The first file of a model folder, which it makes.
void save_config(const std::string& folder, const TransformerConfig& config, WeightFormat weights) {
  io::create_folder(folder);
  save_config(folder, saved_config(config, weights));
}

}  // namespace

namespace {

template <typename Model>
Model read_model(const TransformerConfig& config, const WeightReading& reading,
                 TensorSource& tensors) {
  Model model(config, reading.packs ? nn::Initializer::meta() : nn::Initializer::uninitialized());
  read_weights(model, tensors, reading);
  return model;
}

template <typename Model>
Model load_own_model(const std::string& path, const TransformerConfig& config,
                     const WeightReading& reading) {
  const Index num_numbers = num_parameters(config);
  const auto file = io::SafetensorsFile::load(path, max_data_bytes(num_numbers));
  check_size(file, config, num_numbers);
  FileTensors tensors(file);
  TransformerConfig held = config;
  held.weights = reading.held.value_or(reading.stored);
  Model model = read_model<Model>(held, reading, tensors);
  tensors.check_nothing_left();
  return model;
}

template <typename Model>
Model load_family_model(const std::string& folder, TransformerConfig config,
                        const WeightReading& reading) {
  FamilyFolderTensors tensors(folder, config);
  config.weights = reading.held.value_or(reading.stored);
  return read_model<Model>(config, reading, tensors);
}

}  // namespace

template <typename Model>
Model load_model(const std::string& folder, const LoadOptions& options) {
  const TransformerConfig config = load_config(folder);
  check_as(ErrorKind::model, config.kind == Model::kind, folder, ": expected a model of type ",
           name_of(Model::kind), ", found ", name_of(config.kind));
  const bool is_of_family = !config.family.empty();
  if (!is_of_family || !has_weights(folder)) require_part(folder, weights_path(folder));
  check_rounding(config.weights, options.weights.value_or(config.weights), folder);
  const WeightReading reading{config.weights, options.weights, options.for_inference};
  const std::string path = weights_path(folder);
  const auto what = [&] {
    return "a model of " + std::to_string(num_parameters(config)) + " parameters";
  };
  return io::require_memory(ErrorKind::model, path, what, [&] {
    return is_of_family ? load_family_model<Model>(folder, config, reading)
                        : load_own_model<Model>(path, config, reading);
  });
}

namespace {

// The weights come last, so a folder with weights is complete.
void save_weights(const std::string& folder, const TransformerConfig& config,
                  std::span<const nn::NamedTensor> parameters, WeightFormat format) {
  const bool is_of_family = !saved_config(config, format).family.empty();
  if (is_of_family) return save_family_weights(folder, config, parameters, format);
  models::save_weights(folder, parameters, format);
}

}  // namespace

template <typename Model>
void save_model(const std::string& folder, const Model& model, WeightFormat weights) {
  const std::vector<nn::NamedTensor> values = parameters(model);
  check_finite(values, weights_path(folder));  // before there is half a folder
  save_config(folder, model.config(), weights);
  save_weights(folder, model.config(), values, weights);
}

template <TextModel Model>
ModelFolder<Model> load_model_folder(const std::string& folder, const LoadOptions& options) {
  ModelFolder<Model> loaded{load_model<Model>(folder, options), load_tokenizer(folder)};
  check_vocabulary(folder, loaded.tokenizer, loaded.model.config());
  if (has_decoder(Model::kind)) loaded.generation = load_generation_config(folder);
  return loaded;
}

template <TextModel Model>
void save_model_folder(const std::string& folder, const Model& model,
                       const text::Tokenizer& tokenizer, const GenerationConfig& generation,
                       WeightFormat weights) {
  const std::vector<nn::NamedTensor> values = parameters(model);
  check_finite(values, weights_path(folder));  // before there is half a folder
  save_config(folder, model.config(), weights);
  save_tokenizer(folder, tokenizer);
  const bool is_own = saved_config(model.config(), weights).family.empty();
  if ((is_own && Model::kind == ModelKind::translation) || !generation.json.empty()) {
    save_generation_config(folder, generation);
  }
  save_weights(folder, model.config(), values, weights);
}

void save_model_folder(const std::string& folder, const ImageClassifier& model,
                       WeightFormat weights) {
  save_model(folder, model, weights);
}

#define HEED_INSTANTIATE_TEXT_MODEL(Model)                                                  \
  template Model load_model(const std::string&, const LoadOptions&);                        \
  template void save_model(const std::string&, const Model&, WeightFormat);                 \
  template ModelFolder<Model> load_model_folder(const std::string&, const LoadOptions&);    \
  template void save_model_folder(const std::string&, const Model&, const text::Tokenizer&, \
                                  const GenerationConfig&, WeightFormat);
HEED_INSTANTIATE_TEXT_MODEL(TranslationModel)
HEED_INSTANTIATE_TEXT_MODEL(LanguageModel)
HEED_INSTANTIATE_TEXT_MODEL(Classifier)
HEED_INSTANTIATE_TEXT_MODEL(MaskedModel)
HEED_INSTANTIATE_TEXT_MODEL(Tagger)
HEED_INSTANTIATE_TEXT_MODEL(Encoder)
#undef HEED_INSTANTIATE_TEXT_MODEL
template ImageClassifier load_model(const std::string&, const LoadOptions&);
template void save_model(const std::string&, const ImageClassifier&, WeightFormat);

std::vector<nn::NamedTensor> load_parameters(const std::string& folder) {
  return with_model_class(load_config(folder).kind,
                          [&]<typename AnyModel>(std::type_identity<AnyModel>) {
                            return parameters(load_model<AnyModel>(folder));
                          });
}

text::Tokenizer load_tokenizer(const std::string& folder) {
  io::require_folder(folder, "a model folder", ErrorKind::model);
  return text::Tokenizer::load_folder(folder);
}

void save_tokenizer(const std::string& folder, const text::Tokenizer& tokenizer) {
  for (const auto& [name, bytes] : tokenizer.files()) {
    io::write_file_atomically(folder + '/' + name, bytes);
  }
}

void save_weights(const std::string& folder, std::span<const nn::NamedTensor> parameters,
                  WeightFormat format) {
  write_weights(weights_path(folder), parameters, format);
}

std::string weights_hash(std::span<const nn::NamedTensor> parameters) {
  std::vector<const nn::NamedTensor*> by_name;
  for (const nn::NamedTensor& parameter : parameters) by_name.push_back(&parameter);
  std::ranges::sort(by_name, {}, [](const nn::NamedTensor* parameter) { return parameter->name; });

  io::Sha256 hash;
  for (const nn::NamedTensor* parameter : by_name) {
    check_cancelled();
    std::ostringstream head;
    head << parameter->name << '\0' << parameter->value.shape() << '\0';
    hash.update(head.str());
    hash.update(std::as_bytes(parameter->value.values()));
  }
  return "sha256:" + hash.hex_digest();
}

}  // namespace heed::models
