#include "heed/models/convert_weights.h"

#include <algorithm>
#include <filesystem>

#include "heed/base/error.h"
#include "heed/io/files.h"
#include "heed/io/rollback.h"
#include "heed/models/model_folder.h"
#include "heed/models/model_kinds.h"
#include "heed/models/peft_adapter.h"
#include "heed/models/weight_files.h"

namespace heed::models {
namespace {

std::int64_t weights_bytes(const std::string& folder) {
  std::int64_t bytes = 0;
  for (const std::string& path : weight_paths(folder)) {
    bytes += static_cast<std::int64_t>(std::filesystem::file_size(path));
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

template <typename Model>
void convert(const std::string& from, const std::string& to, WeightFormat format,
             const std::string& adapter) {
  io::Rollback made;
  const auto save = [&](auto&& write) {
    made.create_folder(to);
    for (const char* name : model_files) made.add_file(to + '/' + name);
    write();
    made.keep();
  };
  LoadOptions options;
  if (!adapter.empty()) options.weights = WeightFormat::f32;  // in which it is added
  if constexpr (TextModel<Model>) {
    ModelFolder<Model> loaded = load_model_folder<Model>(from, options);
    merge_adapter(loaded.model, adapter);
    save([&] {
      for (const auto& file : loaded.tokenizer.files()) made.add_file(to + '/' + file.first);
      save_model_folder(to, loaded.model, loaded.tokenizer, loaded.generation, format);
    });
  } else {
    Model model = load_model<Model>(from, options);
    merge_adapter(model, adapter);
    save([&] { save_model_folder(to, model, format); });
  }
}

}  // namespace

ConvertedSizes convert_weights(const std::string& from, const std::string& to, WeightFormat format,
                               const std::string& adapter) {
  const TransformerConfig config = load_config(from);
  check_as(ErrorKind::model, format == WeightFormat::f32 || !is_rounded_to_integers(config.weights),
           from, ": expected weights of f32, f16 or bf16 to make ", name_of(format), " of, found ",
           name_of(config.weights));
  check_as(ErrorKind::model, adapter.empty() || !is_rounded_to_integers(config.weights), from,
           ": expected weights of f32, f16 or bf16 to add an adapter to, found ",
           name_of(config.weights));
  check_output(to);
  with_model_class(config.kind, [&]<typename Model>(std::type_identity<Model>) {
    convert<Model>(from, to, format, adapter);
  });
  return {weights_bytes(from), weights_bytes(to)};
}

}  // namespace heed::models
