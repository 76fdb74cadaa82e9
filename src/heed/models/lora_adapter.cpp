#include "heed/models/lora_adapter.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "heed/base/error.h"
#include "heed/base/printable.h"
#include "heed/io/safetensors.h"
#include "heed/models/finite_weights.h"
#include "heed/models/model_folder.h"
#include "heed/models/stored_weights.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"

namespace heed::models {
namespace {

constexpr std::string_view up_suffix = ".lora_up", down_suffix = ".lora_down";
constexpr const char* format_name = "heed-adapter";
constexpr Index max_rank = 1 << 16;

io::TensorRecord record_of(const std::string& name, const Tensor& value) {
  const auto sizes = value.shape().sizes();
  return io::float_record(name, {sizes.begin(), sizes.end()}, value.values());
}

Tensor tensor_of(const io::SafetensorsFile& file, const io::TensorRecord& record) {
  Tensor tensor = Tensor::from(file.to_floats(record), shape_of(record, file.source()));
  check_finite(tensor.values(), record.name, file.source());
  return tensor;
}

std::string metadata_entry(const io::SafetensorsFile& file, const char* name) {
  const auto entry = file.metadata().find(name);
  check_as(ErrorKind::model, entry != file.metadata().end(), file.source(), ": expected ", name,
           " in the metadata of an adapter, found none");
  return entry->second;
}

float scale_of(const io::SafetensorsFile& file) {
  const std::string text = metadata_entry(file, "scale");
  float scale = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, scale);
  check_as(ErrorKind::model, parsed.ec == std::errc() && parsed.ptr == end && std::isfinite(scale),
           file.source(), ": scale: expected a finite number, found ", excerpt(text));
  return scale;
}

void check_shapes(const io::SafetensorsFile& file, const LoraMatrices& lora) {
  check_as(ErrorKind::model,
           lora.up.rank() == 2 && lora.down.rank() == 2 && lora.up.dim(1) == lora.down.dim(0),
           file.source(), ": ", lora.name, ": expected matrices [O, R] and [R, I], found ",
           lora.up.shape(), " and ", lora.down.shape());
  check_as(ErrorKind::model, lora.up.dim(1) >= 1 && lora.up.dim(1) <= max_rank, file.source(), ": ",
           lora.name, ": expected a rank from 1 to ", max_rank, ", found ", lora.up.dim(1));
}

// "encoder.0.weight" of "encoder.0.weight.lora_up"; nothing for other names.
std::optional<std::string> name_before(const std::string& name, std::string_view suffix) {
  if (!name.ends_with(suffix)) return std::nullopt;
  return name.substr(0, name.size() - suffix.size());
}

nn::NamedTensor& find(std::vector<nn::NamedTensor>& parameters, const std::string& name) {
  const auto parameter = std::ranges::find(parameters, name, &nn::NamedTensor::name);
  check_as(ErrorKind::model, parameter != parameters.end(), "adapter: expected a parameter ",
           excerpt(name), " in the model, found none");
  return *parameter;
}

void check_same_shape(const std::string& name, const Tensor& ours, const Shape& theirs) {
  check_as(ErrorKind::model, ours.shape() == theirs, "adapter: ", name, ": expected the shape ",
           ours.shape(), ", found ", theirs);
}

}  // namespace

std::string adapter_path(const std::string& folder) { return folder + "/adapter.safetensors"; }

void save_adapter(const std::string& path, const LoraAdapter& adapter) {
  std::vector<io::TensorRecord> records;
  for (const LoraMatrices& lora : adapter.matrices) {
    check_finite(lora.up.values(), lora.name + std::string(up_suffix), path);
    check_finite(lora.down.values(), lora.name + std::string(down_suffix), path);
    records.push_back(record_of(lora.name + std::string(up_suffix), lora.up));
    records.push_back(record_of(lora.name + std::string(down_suffix), lora.down));
  }
  check_finite(adapter.replaced, path);
  for (const nn::NamedTensor& parameter : adapter.replaced) {
    records.push_back(record_of(parameter.name, parameter.value));
  }
  io::write_safetensors(path, records,
                        {{"format", format_name},
                         {"base", adapter.base},
                         {"scale", fmt::format("{}", adapter.scale)}});
}

LoraAdapter load_adapter(const std::string& path) {
  const auto file = io::SafetensorsFile::load(path);
  check_as(ErrorKind::model, metadata_entry(file, "format") == format_name, path, ": expected ",
           format_name, ", found ", excerpt(metadata_entry(file, "format")));
  LoraAdapter adapter;
  adapter.base = metadata_entry(file, "base");
  check_as(ErrorKind::model, !adapter.base.empty(), path,
           ": base: expected the hash of the base model's weights, found none");
  adapter.scale = scale_of(file);
  for (const io::TensorRecord& record : file.tensors()) {
    if (const auto adapted = name_before(record.name, down_suffix)) {
      file.require(*adapted + std::string(up_suffix));  // which it is read with
    } else if (const auto name = name_before(record.name, up_suffix)) {
      const io::TensorRecord down = file.require(*name + std::string(down_suffix));
      adapter.matrices.push_back({*name, tensor_of(file, record), tensor_of(file, down)});
      check_shapes(file, adapter.matrices.back());
    } else {
      adapter.replaced.push_back({record.name, tensor_of(file, record)});
    }
  }
  return adapter;
}

void merge(const LoraAdapter& adapter, std::vector<nn::NamedTensor>& parameters) {
  const std::string hash = weights_hash(parameters);
  check_as(ErrorKind::model, adapter.base.empty() || hash == adapter.base,
           "adapter: expected the weights ", excerpt(adapter.base, hash.size()),
           " that it was learned for, found ", hash);
  const NoGrad no_grad;
  for (const LoraMatrices& lora : adapter.matrices) {
    Tensor& weight = find(parameters, lora.name).value;
    check_same_shape(lora.name, weight, {lora.up.dim(0), lora.down.dim(1)});
    weight = ops::add(weight, ops::scale(ops::matmul(lora.up, lora.down), adapter.scale));
  }
  for (const nn::NamedTensor& replaced : adapter.replaced) {
    Tensor& value = find(parameters, replaced.name).value;
    check_same_shape(replaced.name, value, replaced.value.shape());
    value = replaced.value;
  }
}

}  // namespace heed::models
