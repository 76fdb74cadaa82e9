#include "heed/models/convert_weights.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/io/files.h"
#include "heed/io/json_fields.h"
#include "heed/io/rollback.h"
#include "heed/models/classifier.h"
#include "heed/models/config_fields.h"
#include "heed/models/encoder.h"
#include "heed/models/export_gguf.h"
#include "heed/models/export_onnx.h"
#include "heed/models/family_folder.h"
#include "heed/models/family_form.h"
#include "heed/models/family_tokenizer.h"
#include "heed/models/image_classifier.h"
#include "heed/models/image_preprocessor.h"
#include "heed/models/language_model.h"
#include "heed/models/model_folder.h"
#include "heed/models/model_kinds.h"
#include "heed/models/peft_adapter.h"
#include "heed/models/sentence_folder.h"
#include "heed/models/weight_files.h"

namespace heed {

template <>
std::span<const Choice<models::ModelFormat>> choices() {
  static constexpr std::array all{
      Choice{"heed", models::ModelFormat::heed}, Choice{"gguf", models::ModelFormat::gguf},
      Choice{"onnx", models::ModelFormat::onnx}, Choice{"hf", models::ModelFormat::hf}};
  return all;
}

}  // namespace heed

namespace heed::models {
namespace {

std::int64_t file_bytes(const std::string& path) {
  return static_cast<std::int64_t>(std::filesystem::file_size(path));
}

// Weights of other programs may have other files.
std::int64_t weights_bytes(const std::string& folder) {
  std::int64_t bytes = 0;
  for (const std::string& path : weight_paths(folder)) {
    bytes += file_bytes(path);
  }
  return bytes;
}

bool is_rounded_to_integers(WeightFormat format) {
  return format == WeightFormat::int8 || format == WeightFormat::int4;
}

template <typename Model>
void merge_adapter(Model& model, const std::string& path) {
  if (path.empty()) return;
  std::vector<nn::NamedTensor> ours = nn::named_parameters(model);
  std::vector<nn::NamedTensor> merged = ours;
  merge(load_any_adapter(path, {model.config(), ours}), merged);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    std::ranges::copy(merged[i].value.values(), ours[i].value.data());
  }
}

// Nothing that is there is touched, be it a model, half of one or somebody else's files.
void check_output(const std::string& folder) {
  check_as(ErrorKind::usage, !folder.empty(),
           "`output`: expected a folder for the model, found an empty name");
  if (!io::is_folder(folder)) return;
  check_as(ErrorKind::usage, !io::is_file(weights_path(folder)), folder,
           ": expected a folder without a model, found one");
  io::remove_abandoned_writes(folder);
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    fail(ErrorKind::usage, folder, ": expected a new or empty folder, found ",
         entry.path().filename().string(), " in it");
  }
}

// In which adapters are added, and exports are made.
constexpr LoadOptions as_floats{.weights = WeightFormat::f32};

// Refuses formats that would add up two roundings, and adapters of rounded weights.
void check_source(const TransformerConfig& config, const std::string& from, WeightFormat format,
                  const std::string& adapter) {
  check_as(ErrorKind::model, format == WeightFormat::f32 || !is_rounded_to_integers(config.weights),
           from, ": expected weights of f32, f16 or bf16 to make ", name_of(format), " of, found ",
           name_of(config.weights));
  check_as(ErrorKind::model, adapter.empty() || !is_rounded_to_integers(config.weights), from,
           ": expected weights of f32, f16 or bf16 to add an adapter to, found ",
           name_of(config.weights));
}

void check_kind(const std::string& from, ModelKind expected, ModelKind found) {
  check_as(ErrorKind::model, expected == found, from, ": expected a model of type ",
           name_of(expected), ", found ", name_of(found));
}

// A new file in a folder that is there or is made.
void add_new_file(io::Rollback& made, const std::string& path) {
  check_as(ErrorKind::usage, !path.empty(),
           "`output`: expected a file for the model, found an empty name");
  check_as(ErrorKind::usage, !io::is_there(path), path,
           ": expected a new file, found one that is there");
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (!folder.empty()) made.create_folder(folder);
  made.add_file(path);
}

// A file of the tokenizer, or null.
const std::string* file_of(const text::Tokenizer& tokenizer, const std::string& name) {
  const auto found = tokenizer.files().find(name);
  return found == tokenizer.files().end() ? nullptr : &found->second;
}

GgufVocabulary vocabulary_of(const text::Tokenizer& tokenizer, const std::string& from) {
  if (tokenizer.is_own()) return gguf_vocabulary(tokenizer.bytes(), from);
  GgufVocabulary vocabulary;
  if (const std::string* json = file_of(tokenizer, "tokenizer.json")) {
    vocabulary = gguf_vocabulary_of_json(*json, from + "/tokenizer.json");
  } else {
    const std::string* model = file_of(tokenizer, "tokenizer.model");
    check_as(ErrorKind::model, model, from,
             ": expected tokenizer.json or tokenizer.model for GGUF, found neither");
    vocabulary = gguf_vocabulary(*model, from + "/tokenizer.model");
  }
  const std::vector<int>& prefix = tokenizer.sequence().prefix;
  vocabulary.begins_with_begin = !prefix.empty() && prefix.front() == tokenizer.tokens().begin;
  return vocabulary;
}

std::string chat_template_of(const text::Tokenizer& tokenizer, const std::string& from) {
  if (const std::string* file = file_of(tokenizer, "chat_template.jinja")) return *file;
  const std::string* settings = file_of(tokenizer, "tokenizer_config.json");
  if (!settings) return {};
  const auto fields = io::JsonFields::parse(*settings, from + "/tokenizer_config.json");
  if (!fields.has("chat_template") || !fields.json().at("chat_template").is_string()) return {};
  return fields.text("chat_template");
}

// Graphs take ids, so a folder of another family needs no tokenizer: whoever runs the graph has it.
bool lacks_tokenizer(const std::string& folder) {
  return !load_config(folder).family.empty() &&
         std::ranges::none_of(text::Tokenizer::file_names(),
                              [&](const char* name) { return io::is_there(folder + '/' + name); });
}

// What a model of images has in place of a tokenizer.
text::TokenizerFiles preprocessor_files(const std::string& from, const TransformerConfig& config) {
  const ImagePreprocessor preprocessor = load_image_preprocessor(from, config);
  if (preprocessor.json.empty()) return {};
  return {{ImagePreprocessor::file_name, preprocessor.json}};
}

std::string onnx_path(const std::string& folder) { return folder + "/model.onnx"; }

// config.json and the tokenizer's files tell what goes into the graph and what comes out.
template <typename Model>
std::int64_t convert_to_onnx(const std::string& from, const std::string& to, WeightFormat format,
                             const std::string& adapter) {
  const auto finish = [&](Model& model, const text::TokenizerFiles& files) {
    merge_adapter(model, adapter);
    io::Rollback made;
    made.create_folder(to);
    made.add_file(onnx_path(to));
    made.add_file(to + "/config.json");
    for (const auto& [name, bytes] : files) made.add_file(to + '/' + name);
    save_config(to, model.config());
    for (const auto& [name, bytes] : files) io::write_file_atomically(to + '/' + name, bytes);
    export_onnx(model, onnx_path(to), format);
    const std::int64_t bytes = file_bytes(onnx_path(to));
    made.keep();
    return bytes;
  };
  if constexpr (TextModel<Model>) {
    if (!lacks_tokenizer(from)) {
      ModelFolder<Model> loaded = load_model_folder<Model>(from, as_floats);
      return finish(loaded.model, loaded.tokenizer.files());
    }
  }
  Model model = load_model<Model>(from, as_floats);
  return finish(
      model, TextModel<Model> ? text::TokenizerFiles{} : preprocessor_files(from, model.config()));
}

// What Heed does by itself for its own models, said to programs that do as the file says.
GenerationConfig family_generation(const TransformerConfig& form, const GenerationConfig& own) {
  constexpr Index usual_length = 512;
  nlohmann::ordered_json json;
  if (form.kind == ModelKind::translation) {
    json["num_beams"] = own.beam_size;
    json["length_penalty"] = shortest(static_cast<float>(own.length_penalty));
    json["max_length"] = own.max_length > 0 ? own.max_length : usual_length;
    json["decoder_start_token_id"] = form.tokens.decoder_start;
  }
  json["pad_token_id"] = form.tokens.pad;
  json["eos_token_id"] = form.tokens.end();
  json["bad_words_ids"] = {
      {text::own_tokens::pad}, {text::own_tokens::unknown}, {text::own_tokens::begin}};
  return {.json = json.dump(2) + '\n'};
}

// The files that are not those of the weights.
template <typename Model>
text::TokenizerFiles family_files(const std::string& from, const TransformerConfig& form) {
  if constexpr (TextModel<Model>) {
    text::TokenizerFiles files =
        family_tokenizer_files(load_tokenizer(from), form, from + "/tokenizer.model");
    if (has_decoder(form.kind)) {
      files["generation_config.json"] = family_generation(form, load_generation_config(from)).json;
    }
    return files;
  }
  return {};
}

void copy_prompts(const std::string& from, const std::string& to, io::Rollback& made) {
  const SentencePrompts prompts = load_sentence_prompts(from);
  if (prompts.json.empty()) return;
  const std::string path = to + '/' + SentencePrompts::file_name;
  made.add_file(path);
  io::write_file_atomically(path, prompts.json);
}

template <typename Model>
std::int64_t convert_to_family(const std::string& from, const std::string& to, WeightFormat format,
                               const std::string& adapter) {
  Model model = load_model<Model>(from, as_floats);
  merge_adapter(model, adapter);
  const TransformerConfig form = family_form(model.config());
  const text::TokenizerFiles files = family_files<Model>(from, form);
  const auto values = family_parameters(model.config(), form, parameters(model));
  io::Rollback made;
  made.create_folder(to);
  for (const char* name : {"config.json", "model.safetensors"}) made.add_file(to + '/' + name);
  for (const auto& [name, bytes] : files) made.add_file(to + '/' + name);
  save_family_config(to, form, format);
  for (const auto& [name, bytes] : files) io::write_file_atomically(to + '/' + name, bytes);
  save_family_weights(to, form, values, format);
  const std::int64_t bytes = weights_bytes(to);
  made.keep();
  return bytes;
}

// Returns the bytes of the weights that it writes.
template <typename Model>
std::int64_t convert(const std::string& from, const std::string& to, WeightFormat format,
                     const std::string& adapter) {
  io::Rollback made;
  const auto save = [&](auto&& write) {
    made.create_folder(to);
    for (const char* name : model_files) made.add_file(to + '/' + name);
    write();
    const std::int64_t bytes = weights_bytes(to);  // before it is kept: it can fail
    made.keep();
    return bytes;
  };
  const LoadOptions options = adapter.empty() ? LoadOptions{} : as_floats;
  if constexpr (TextModel<Model>) {
    ModelFolder<Model> loaded = load_model_folder<Model>(from, options);
    merge_adapter(loaded.model, adapter);
    return save([&] {
      for (const auto& file : loaded.tokenizer.files()) made.add_file(to + '/' + file.first);
      if constexpr (std::same_as<Model, Encoder>) copy_prompts(from, to, made);
      save_model_folder(to, loaded.model, loaded.tokenizer, loaded.generation, format);
    });
  } else {
    Model model = load_model<Model>(from, options);
    merge_adapter(model, adapter);
    return save([&] {
      for (const auto& [name, bytes] : preprocessor_files(from, model.config())) {
        made.add_file(to + '/' + name);
        io::write_file_atomically(to + '/' + name, bytes);
      }
      save_model_folder(to, model, format);
    });
  }
}

}  // namespace

ConvertedSizes convert_weights(const std::string& from, const std::string& to, WeightFormat format,
                               const std::string& adapter) {
  const TransformerConfig config = load_config(from);
  check_source(config, from, format, adapter);
  check_output(to);
  const std::int64_t before = weights_bytes(from);
  const std::int64_t after =
      with_model_class(config.kind, [&]<typename Model>(std::type_identity<Model>) {
        return convert<Model>(from, to, format, adapter);
      });
  return {before, after};
}

ConvertedSizes convert_to_gguf(const std::string& from, const std::string& to, WeightFormat format,
                               const std::string& adapter, std::vector<std::string>& notes) {
  const TransformerConfig config = load_config(from);
  check_source(config, from, format, adapter);
  check_kind(from, ModelKind::language, config.kind);
  io::Rollback made;
  add_new_file(made, to);
  LanguageModelFolder loaded = load_model_folder<LanguageModel>(from, as_floats);
  merge_adapter(loaded.model, adapter);
  ConvertedSizes sizes{.before = weights_bytes(from)};
  const GgufVocabulary vocabulary = vocabulary_of(loaded.tokenizer, from);
  notes = export_gguf(loaded.model, vocabulary, to,
                      {.name = std::filesystem::path(to).stem().string(),
                       .weights = format,
                       .chat_template = chat_template_of(loaded.tokenizer, from)});
  sizes.after = file_bytes(to);
  made.keep();
  return sizes;
}

ConvertedSizes convert_to_onnx(const std::string& from, const std::string& to, WeightFormat format,
                               const std::string& adapter) {
  const TransformerConfig config = load_config(from);
  check_source(config, from, format, adapter);
  check_output(to);
  const std::int64_t before = weights_bytes(from);
  switch (config.kind) {
    case ModelKind::classifier:
      return {before, convert_to_onnx<Classifier>(from, to, format, adapter)};
    case ModelKind::encoder:
      return {before, convert_to_onnx<Encoder>(from, to, format, adapter)};
    case ModelKind::image_classifier:
      return {before, convert_to_onnx<ImageClassifier>(from, to, format, adapter)};
    default:
      fail(ErrorKind::model, from, ": expected a model of type ", name_of(ModelKind::classifier),
           ", ", name_of(ModelKind::encoder), " or ", name_of(ModelKind::image_classifier),
           " for ONNX, found ", name_of(config.kind));
  }
}

ConvertedSizes convert_to_family(const std::string& from, const std::string& to,
                                 WeightFormat format, const std::string& adapter) {
  const TransformerConfig config = load_config(from);
  check_as(ErrorKind::usage, !is_rounded_to_integers(format),
           "`weights`: expected f32, f16 or bf16 for other programs' layouts, found ",
           name_of(format));
  if (!config.family.empty()) return convert_weights(from, to, format, adapter);
  check_source(config, from, format, adapter);
  check_output(to);
  const std::int64_t before = weights_bytes(from);
  const std::int64_t after =
      with_model_class(config.kind, [&]<typename Model>(std::type_identity<Model>) {
        return convert_to_family<Model>(from, to, format, adapter);
      });
  return {before, after};
}

}  // namespace heed::models
