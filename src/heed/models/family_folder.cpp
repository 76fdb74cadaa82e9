#include "heed/models/family_folder.h"

#include <algorithm>
#include <deque>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/half.h"
#include "heed/base/printable.h"
#include "heed/io/checked_size.h"
#include "heed/io/files.h"
#include "heed/io/safetensors.h"
#include "heed/models/finite_weights.h"
#include "heed/models/sentence_folder.h"

namespace heed::models {
namespace {

using nlohmann::ordered_json;

const Family& family_of(const TransformerConfig& config) {
  const Family* family = find_family(config.family);
  check_as(ErrorKind::model, family != nullptr, "family: expected one of ", family_names(),
           ", found ", excerpt(config.family));
  return *family;
}

// The class that config.json names; of a folder of sentence-transformers, the model without a head.
const FamilyClass& read_class(const Family& family, const io::JsonFields& json,
                              bool is_sentence_folder) {
  if (is_sentence_folder) {
    for (const FamilyClass& one : family.classes) {
      if (one.kind == ModelKind::encoder) return one;
    }
  }
  const bool names_one = json.has("architectures") && !json.json().at("architectures").empty();
  if (!names_one) return family.classes.front();
  const std::string name = json.texts("architectures").front();
  std::string known;
  for (const FamilyClass& one : family.classes) {
    if (one.name == name) return one;
    known.append(known.empty() ? "" : ", ").append(one.name);
  }
  fail(ErrorKind::model, json.place("architectures"), ": expected one of ", known, ", found ",
       excerpt(name));
}

// generation_config.json wins over config.json.
void read_generation_tokens(const std::string& folder, text::SpecialTokens& tokens) {
  const std::string path = folder + "/generation_config.json";
  if (!io::is_there(path, ErrorKind::model)) return;
  const auto json = io::JsonFields::load(path);
  constexpr io::IntegerRange token_id{.min = 0, .max = 1 << 24};
  if (json.has("eos_token_id")) {
    tokens.ends.clear();
    const bool is_list = json.json().at("eos_token_id").is_array();
    const auto ids = is_list ? json.integers("eos_token_id", token_id)
                             : std::vector{json.integer("eos_token_id", token_id)};
    for (const auto id : ids) tokens.ends.push_back(static_cast<int>(id));
  }
  const auto read = [&](const char* name, int& id) {
    id = static_cast<int>(json.integer_or(name, id, {.min = -1, .max = token_id.max}));
  };
  read("pad_token_id", tokens.pad);
  read("bos_token_id", tokens.begin);
  read("decoder_start_token_id", tokens.decoder_start);
}

}  // namespace

bool is_of_family(const io::JsonFields& json) {
  return json.has("model_type") && json.json().at("model_type").is_string() &&
         !json.text("model_type").starts_with("heed-");
}

TransformerConfig load_family_config(const std::string& folder, const io::JsonFields& json) {
  const std::string model_type = json.text("model_type");
  const Family* family = find_family(model_type);
  check_as(ErrorKind::model, family != nullptr, json.place("model_type"), ": ", excerpt(model_type),
           " is not supported; supported are ", family_names());
  check_as(ErrorKind::model, !json.has("quantization_config"), json.place("quantization_config"),
           ": expected weights that are not quantized, found some that are");
  const bool is_sentence_folder = has_sentence_files(folder);
  const FamilyClass& its_class = read_class(*family, json, is_sentence_folder);
  TransformerConfig config = family->network;
  config.family = model_type;
  config.kind = its_class.kind;
  if (its_class.set_head != nullptr) its_class.set_head(config);
  for (const FamilyField& field : family->fields) field.read(json, config);
  read_generation_tokens(folder, config.tokens);
  if (config.kind == ModelKind::encoder) read_sentence_files(folder, config);
  validate(config, folder + "/config.json", ErrorKind::model);
  if (!has_output_projection(config.kind) || !has_weights(folder)) return config;
  const Tying tied = config.source_vocabulary > 0 ? Tying::target : Tying::all;
  config.tying = holds_tied_output(*family, config, folder) ? tied : untied_of(config);
  return config;
}

namespace {

std::string_view dtype_name_of(WeightFormat weights) {
  switch (weights) {
    case WeightFormat::f16:
      return "float16";
    case WeightFormat::bf16:
      return "bfloat16";
    default:
      return "float32";
  }
}

void check_writable(const TransformerConfig& config, WeightFormat weights) {
  check_as(
      ErrorKind::usage,
      weights == WeightFormat::f32 || weights == WeightFormat::f16 || weights == WeightFormat::bf16,
      "`format`: expected f32, f16 or bf16 for a folder of ", config.family, ", found ",
      name_of(weights));
}

}  // namespace

void save_family_config(const std::string& folder, const TransformerConfig& config,
                        WeightFormat weights) {
  check_writable(config, weights);
  const Family& family = family_of(config);
  ordered_json json{{"architectures", ordered_json::array({class_of(family, config).name})},
                    {"model_type", family.model_type},
                    {"torch_dtype", dtype_name_of(weights)}};
  for (const FamilyField& field : family.fields) field.write(json, config);
  const std::string text = json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n';
  io::write_file_atomically(folder + "/config.json", text);
  if (config.kind == ModelKind::encoder) write_sentence_files(folder, config);
}

namespace {

std::vector<std::uint16_t> to_halves(std::span<const float> values, WeightFormat weights) {
  const auto to_half = weights == WeightFormat::f16 ? float_to_float16 : float_to_bfloat16;
  std::vector<std::uint16_t> halves(values.size());
  std::ranges::transform(values, halves.begin(), to_half);
  return halves;
}

}  // namespace

void save_family_weights(const std::string& folder, const TransformerConfig& config,
                         std::span<const nn::NamedTensor> parameters, WeightFormat weights) {
  check_writable(config, weights);
  const std::string path = folder + "/model.safetensors";
  check_finite(parameters, path);
  const std::vector<nn::NamedTensor> tensors =
      FamilyMap(family_of(config), config).to_theirs(parameters);
  std::deque<std::vector<std::uint16_t>> halves;  // which stay where they are
  std::vector<io::TensorRecord> records;
  for (const nn::NamedTensor& tensor : tensors) {
    const auto sizes = tensor.value.shape().sizes();
    io::TensorRecord record =
        io::float_record(tensor.name, {sizes.begin(), sizes.end()}, tensor.value.values());
    if (weights != WeightFormat::f32) {
      record.dtype = weights == WeightFormat::f16 ? io::DType::f16 : io::DType::bf16;
      record.bytes =
          std::as_bytes(std::span(halves.emplace_back(to_halves(tensor.value.values(), weights))));
    }
    records.push_back(std::move(record));
  }
  io::write_safetensors(path, records, {{"format", "pt"}});
}

namespace {

// More than files of the widest type hold, with copies of tied tensors and causal masks.
std::uint64_t max_data_bytes(const std::string& folder, const TransformerConfig& config) {
  constexpr std::uint64_t bytes_each = 3 * 8, slack = std::uint64_t{1} << 28;
  const auto count = static_cast<std::uint64_t>(num_parameters(config));
  return (io::CheckedSize(count, folder) * bytes_each + slack).value();
}

}  // namespace

FamilyFolderTensors::FamilyFolderTensors(const std::string& folder, const TransformerConfig& config)
    : map_(family_of(config), config),
      files_(WeightFiles::load(folder, max_data_bytes(folder, config))) {
  find_sources();
  check_missing();
}

void FamilyFolderTensors::find_sources() {
  for (const io::SafetensorsFile& file : files_.files()) {
    for (const io::TensorRecord& record : file.tensors()) {
      const MappedTensor* tensor = map_.find(record.name);
      if (tensor != nullptr) {
        add_source(*tensor, {&file, record});
      } else {
        check_as(ErrorKind::model, map_.is_ignored(record.name), file.source(),
                 ": expected the tensors of the model, found also ", excerpt(record.name));
      }
    }
  }
}

// A tensor may stand in a file under several names, if it is the same under each.
void FamilyFolderTensors::add_source(const MappedTensor& tensor, const Source& source) {
  const std::string& file = source.file->source();
  const Shape shape = shape_of(source.record, file);
  check_as(ErrorKind::model, shape == tensor.shape, file, ": ", excerpt(source.record.name),
           ": expected the shape ", tensor.shape, ", found ", shape);
  const auto [first, is_new] = sources_.emplace(&tensor, source);
  if (is_new) return;
  const bool is_same = std::ranges::equal(first->second.record.bytes, source.record.bytes);
  first->second.file->release(first->second.record.bytes);
  source.file->release(source.record.bytes);
  check_as(ErrorKind::model, is_same, file, ": ", excerpt(source.record.name),
           ": expected the numbers of ", excerpt(first->second.record.name), ", found others");
}

void FamilyFolderTensors::check_missing() const {
  for (const MappedTensor& tensor : map_.tensors()) {
    check_as(ErrorKind::model, tensor.may_be_missing || sources_.contains(&tensor),
             files_.files().front().source(), ": expected a tensor named ", tensor.name,
             ", found none");
  }
}

const FamilyFolderTensors::Source* FamilyFolderTensors::source_of(const std::string& name) const {
  const auto source = sources_.find(map_.place_of(name).tensor);
  return source == sources_.end() ? nullptr : &source->second;
}

std::string FamilyFolderTensors::file_of(const std::string& name) const {
  const Source* source = source_of(name);
  return (source != nullptr ? *source->file : files_.files().front()).source();
}

io::TensorRecord FamilyFolderTensors::require(const std::string& name) {
  const FamilyMap::Place place = map_.place_of(name);
  const Source* source = source_of(name);
  file_ = nullptr;
  if (source == nullptr) return zeros(place);
  if (!place.tensor->has_blocks()) return in_our_layout(place, *source);
  file_ = source->file;
  io::TensorRecord record = source->record;
  record.shape = place.tensor->shape_of_part(place.part);
  record.bytes = place.tensor->rows_of_part(place.part, record.bytes);
  return record;
}

io::TensorRecord FamilyFolderTensors::in_our_layout(const FamilyMap::Place& place,
                                                    const Source& source) {
  io::TensorRecord record = source.record;
  record.shape = place.tensor->shape_of_part(place.part);
  bytes_.resize(place.tensor->rows_of_part(place.part, source.record.bytes).size());
  place.tensor->read(place.part, source.record.bytes, bytes_);
  source.file->release(source.record.bytes);
  record.bytes = bytes_;
  return record;
}

io::TensorRecord FamilyFolderTensors::zeros(const FamilyMap::Place& place) {
  io::TensorRecord record{.name = place.tensor->name,
                          .dtype = io::DType::f32,
                          .shape = place.tensor->shape_of_part(place.part),
                          .bytes = {}};
  std::size_t size = sizeof(float);
  for (const std::int64_t axis : record.shape) size *= static_cast<std::size_t>(axis);
  bytes_.assign(size, std::byte{0});
  record.bytes = bytes_;
  return record;
}

void FamilyFolderTensors::release(std::span<const std::byte> bytes) {
  if (file_ != nullptr) file_->release(bytes);
}

}  // namespace heed::models
