#include "heed/models/convert_weights.h"

#include <filesystem>

#include "heed/base/error.h"
#include "heed/io/files.h"
#include "heed/models/model_folder.h"

namespace heed::models {
namespace {

std::string weights_path(const std::string& folder) { return folder + "/model.safetensors"; }

std::int64_t weights_bytes(const std::string& folder) {
  return static_cast<std::int64_t>(std::filesystem::file_size(weights_path(folder)));
}

bool is_rounded_to_integers(WeightFormat format) {
  return format == WeightFormat::int8 || format == WeightFormat::int4;
}

}  // namespace

ConvertedSizes convert_weights(const std::string& from, const std::string& to,
                               WeightFormat format) {
  const TransformerConfig config = load_config(from);
  check_as(ErrorKind::model, format == WeightFormat::f32 || !is_rounded_to_integers(config.weights),
           from, ": expected weights of f32, f16 or bf16 to make ", name_of(format), " of, found ",
           name_of(config.weights));
  check_as(ErrorKind::usage, !io::is_file(weights_path(to)), to,
           ": expected a folder without a model, found one");
  check_as(ErrorKind::model,
           config.kind == ModelKind::translation || config.kind == ModelKind::language, from,
           ": expected a model of type ", name_of(ModelKind::translation), " or ",
           name_of(ModelKind::language), ", found ", name_of(config.kind));
  if (config.kind == ModelKind::language) {
    const LanguageModelFolder loaded = load_language_model_folder(from);
    save_model_folder(to, loaded.model, loaded.tokenizer, format);
  } else {
    const ModelFolder loaded = load_model_folder(from);
    save_model_folder(to, loaded.model, loaded.tokenizer, loaded.generation, format);
  }
  return {weights_bytes(from), weights_bytes(to)};
}

}  // namespace heed::models
