#include "heed/models/lora_adapter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "heed/base/error.h"
#include "heed/io/safetensors.h"
#include "heed/models/model_folder.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"

namespace heed::models {
namespace {

constexpr std::string_view up_suffix = ".lora_up", down_suffix = ".lora_down";
constexpr const char* format_name = "heed-adapter";

io::TensorRecord record_of(const std::string& name, const Tensor& value) {
  const auto sizes = value.shape().sizes();
  return io::float_record(name, {sizes.begin(), sizes.end()}, value.values());
}

Tensor tensor_of(const io::SafetensorsFile& file, const io::TensorRecord& record) {
  check_as(ErrorKind::model, record.shape.size() <= Shape::max_rank, file.source(), ": ",
           record.name, ": expected at most ", Shape::max_rank, " axes, found ",
           record.shape.size());
  return Tensor::from(file.to_floats(record), Shape(record.shape));
}

std::string metadata_entry(const io::SafetensorsFile& file, const char* name) {
  const auto entry = file.metadata().find(name);
  check_as(ErrorKind::model, entry != file.metadata().end(), file.source(), ": expected ", name,
           " in the metadata of an adapter, found none");
  return entry->second;
}

void check_shapes(const io::SafetensorsFile& file, const LoraMatrices& lora) {
  check_as(ErrorKind::model,
           lora.up.rank() == 2 && lora.down.rank() == 2 && lora.up.dim(1) == lora.down.dim(0),
           file.source(), ": ", lora.name, ": expected matrices [O, R] and [R, I], found ",
           lora.up.shape(), " and ", lora.down.shape());
}

nn::NamedTensor& find(std::vector<nn::NamedTensor>& parameters, const std::string& name) {
  const auto parameter = std::ranges::find(parameters, name, &nn::NamedTensor::name);
  check_as(ErrorKind::model, parameter != parameters.end(), "adapter: expected a parameter ", name,
           " in the model, found none");
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
    records.push_back(record_of(lora.name + std::string(up_suffix), lora.up));
    records.push_back(record_of(lora.name + std::string(down_suffix), lora.down));
  }
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
           format_name, ", found ", metadata_entry(file, "format"));
  LoraAdapter adapter;
  adapter.base = metadata_entry(file, "base");
  adapter.scale = std::strtof(metadata_entry(file, "scale").c_str(), nullptr);
  for (const io::TensorRecord& record : file.tensors()) {
    if (record.name.ends_with(down_suffix)) continue;  // read with its .lora_up
    if (!record.name.ends_with(up_suffix)) {
      adapter.replaced.push_back({record.name, tensor_of(file, record)});
      continue;
    }
    const std::string name = record.name.substr(0, record.name.size() - up_suffix.size());
    const io::TensorRecord down = file.require(name + std::string(down_suffix));
    adapter.matrices.push_back({name, tensor_of(file, record), tensor_of(file, down)});
    check_shapes(file, adapter.matrices.back());
  }
  return adapter;
}

void merge(const LoraAdapter& adapter, std::vector<nn::NamedTensor>& parameters) {
  const std::string hash = weights_hash(parameters);
  check_as(ErrorKind::model, hash == adapter.base, "adapter: expected the weights ", adapter.base,
           " that it was learned for, found ", hash);
  const NoGrad no_grad;
  for (const LoraMatrices& lora : adapter.matrices) {
    Tensor& weight = find(parameters, lora.name).value;
    const Tensor product = ops::scale(ops::matmul(lora.up, lora.down), adapter.scale);
    check_same_shape(lora.name, weight, product.shape());
    weight = ops::add(weight, product);
  }
  for (const nn::NamedTensor& replaced : adapter.replaced) {
    Tensor& value = find(parameters, replaced.name).value;
    check_same_shape(replaced.name, value, replaced.value.shape());
    value = replaced.value;
  }
}

}  // namespace heed::models
