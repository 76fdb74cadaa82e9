#include "heed/models/model_folder.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "heed/base/cancellation.h"
#include "heed/base/error.h"
#include "heed/io/files.h"
#include "heed/io/json_fields.h"
#include "heed/io/require_memory.h"
#include "heed/io/safetensors.h"
#include "heed/io/sha256.h"
#include "heed/models/finite_weights.h"
#include "heed/models/model_kinds.h"
#include "heed/models/stored_weights.h"

namespace heed::models {
namespace {

static_assert(std::endian::native == std::endian::little,
              "weights_hash and safetensors take the bytes of floats as they are in memory");

std::string config_path(const std::string& folder) { return folder + "/config.json"; }
std::string generation_path(const std::string& folder) {
  return folder + "/generation_config.json";
}

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

std::string to_json(const GenerationConfig& generation) {
  nlohmann::ordered_json json{{"num_beams", generation.beam_size},
                              {"length_penalty", generation.length_penalty}};
  if (generation.max_length > 0) json["max_length"] = generation.max_length;
  json["decoder_start_token_id"] = text::Tokenizer::end;
  json["eos_token_id"] = text::Tokenizer::end;
  json["pad_token_id"] = text::Tokenizer::pad;
  return json.dump(2) + '\n';
}

}  // namespace

std::string weights_path(const std::string& folder) { return folder + "/model.safetensors"; }

TransformerConfig load_config(const std::string& folder) {
  require_part(folder, config_path(folder));
  const std::string path = config_path(folder);
  return transformer_config_from_json(io::read_file(path, ErrorKind::model, io::max_config_bytes),
                                      path);
}

void save_config(const std::string& folder, const TransformerConfig& config) {
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

// The first file of a model folder, which it makes.
void save_config(const std::string& folder, TransformerConfig config, WeightFormat weights) {
  config.weights = weights;
  io::create_folder(folder);
  save_config(folder, config);
}

}  // namespace

template <typename Model>
Model load_model(const std::string& folder) {
  const TransformerConfig config = load_config(folder);
  check_as(ErrorKind::model, config.kind == Model::kind, folder, ": expected a model of type ",
           name_of(Model::kind), ", found ", name_of(config.kind));
  require_part(folder, weights_path(folder));
  const Index num_numbers = num_parameters(config);
  const std::string path = weights_path(folder);
  const auto what = [&] { return "a model of " + std::to_string(num_numbers) + " parameters"; };
  return io::require_memory(ErrorKind::model, path, what, [&] {
    const auto file = io::SafetensorsFile::load(path, max_data_bytes(num_numbers));
    check_size(file, config, num_numbers);
    Model model = uninitialized<Model>(config);
    read_weights(model, file, config.weights);
    return model;
  });
}

template <TextModel Model>
ModelFolder<Model> load_model_folder(const std::string& folder) {
  ModelFolder<Model> loaded{load_model<Model>(folder), load_tokenizer(folder)};
  check_vocabulary(folder, loaded.tokenizer, loaded.model.config());
  if (Model::kind == ModelKind::translation) loaded.generation = load_generation_config(folder);
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
  if (Model::kind == ModelKind::translation) {
    io::write_file_atomically(generation_path(folder), to_json(generation));
  }
  save_weights(folder, values, weights);
}

void save_model_folder(const std::string& folder, const ImageClassifier& model) {
  const std::vector<nn::NamedTensor> values = parameters(model);
  check_finite(values, weights_path(folder));
  save_config(folder, model.config(), WeightFormat::f32);
  save_weights(folder, values);
}

#define HEED_INSTANTIATE_TEXT_MODEL(Model)                                                  \
  template Model load_model(const std::string&);                                            \
  template ModelFolder<Model> load_model_folder(const std::string&);                        \
  template void save_model_folder(const std::string&, const Model&, const text::Tokenizer&, \
                                  const GenerationConfig&, WeightFormat);
HEED_INSTANTIATE_TEXT_MODEL(TranslationModel)
HEED_INSTANTIATE_TEXT_MODEL(LanguageModel)
HEED_INSTANTIATE_TEXT_MODEL(Classifier)
HEED_INSTANTIATE_TEXT_MODEL(MaskedModel)
HEED_INSTANTIATE_TEXT_MODEL(Tagger)
HEED_INSTANTIATE_TEXT_MODEL(Encoder)
#undef HEED_INSTANTIATE_TEXT_MODEL
template ImageClassifier load_model(const std::string&);

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

GenerationConfig load_generation_config(const std::string& folder) {
  GenerationConfig generation;
  if (!io::is_there(generation_path(folder), ErrorKind::model)) return generation;
  const auto fields = io::JsonFields::load(generation_path(folder));
  generation.beam_size =
      fields.integer_or("num_beams", generation.beam_size, {.min = 1, .max = max_beam_size});
  generation.length_penalty =
      fields.number_or("length_penalty", generation.length_penalty,
                       {.min = -max_length_penalty, .max = max_length_penalty});
  generation.max_length =
      fields.integer_or("max_length", generation.max_length, {.min = 0, .max = max_output_length});
  return generation;
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
