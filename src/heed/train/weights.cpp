#include "heed/train/weights.h"

#include <algorithm>
#include <cassert>
#include <span>

#include "heed/base/cancellation.h"
#include "heed/base/error.h"
#include "heed/io/sha256.h"
#include "heed/models/finite_weights.h"
#include "heed/models/stored_weights.h"

namespace heed::train {
namespace {

constexpr const char* old_checksum_name = "sha256";

std::vector<std::int64_t> sizes_of(const Tensor& tensor) {
  return {tensor.shape().sizes().begin(), tensor.shape().sizes().end()};
}

// Files of the first version: over the metadata and the tensors in the order of their names.
std::string old_checksum(std::vector<io::TensorRecord> records, const io::Metadata& metadata) {
  std::ranges::sort(records, {}, &io::TensorRecord::name);
  io::Sha256 hash;
  for (const auto& [key, value] : metadata) {
    if (key != old_checksum_name) hash.update(key + '\0' + value + '\0');
  }
  for (const io::TensorRecord& record : records) {
    check_cancelled();
    hash.update(record.name);
    hash.update(record.bytes);
  }
  return hash.hex_digest();
}

}  // namespace

Weights copy_weights(const Weights& weights) {
  Weights copy;
  for (const nn::NamedTensor& weight : weights) copy.push_back({weight.name, weight.value.clone()});
  return copy;
}

void assign_weights(Weights& to, const Weights& from) {
  assert(to.size() == from.size());
  for (std::size_t i = 0; i < to.size(); ++i) {
    assert(to[i].name == from[i].name && to[i].value.shape() == from[i].value.shape());
    std::ranges::copy(from[i].value.values(), to[i].value.data());
  }
}

std::optional<std::string> first_non_finite(const Weights& weights) {
  for (const nn::NamedTensor& weight : weights) {
    if (models::first_not_finite(std::span<const float>(weight.value.values()))) return weight.name;
  }
  return std::nullopt;
}

BorrowedWeights::BorrowedWeights(Weights model, Weights other)
    : model_(std::move(model)), own_(copy_weights(model_)), other_(std::move(other)) {
  assign_weights(model_, other_);
}

void BorrowedWeights::swap() {
  has_other_ = !has_other_;
  assign_weights(model_, has_other_ ? other_ : own_);
}

BorrowedWeights::~BorrowedWeights() { assign_weights(model_, own_); }

void WeightsWriter::add(std::string_view prefix, const Weights& weights) {
  const std::optional<std::string> bad = first_non_finite(weights);
  check_as(ErrorKind::diverged, !bad, "training diverged: expected finite numbers to save, found ",
           "others in ", prefix, bad.value_or(""));
  for (const nn::NamedTensor& weight : weights) {
    records_.push_back(io::float_record(std::string(prefix) + weight.name, sizes_of(weight.value),
                                        weight.value.values()));
  }
}

void WeightsWriter::write(const std::string& path, io::Metadata metadata) const {
  io::write_safetensors(path, records_, std::move(metadata));
}

io::SafetensorsFile load_checked(const std::string& path) {
  auto file = io::SafetensorsFile::load(path);
  if (file.has_checksum()) return file;
  const auto entry = file.metadata().find(old_checksum_name);
  check_as(ErrorKind::model, entry != file.metadata().end(), path,
           ": expected a checksum in the metadata, found none");
  check_as(ErrorKind::model, entry->second == old_checksum(file.tensors(), file.metadata()), path,
           ": expected contents that fit their checksum, found a damaged file");
  return file;
}

void read_weights(const io::SafetensorsFile& file, std::string_view prefix, Weights& weights) {
  for (nn::NamedTensor& weight : weights) {
    const io::TensorRecord record = file.require(std::string(prefix) + weight.name);
    const Shape shape = models::shape_of(record, file.source());
    check_as(ErrorKind::model, shape == weight.value.shape(), file.source(), ": ", record.name,
             ": expected shape ", weight.value.shape(), ", found ", shape);
    file.copy_floats(record, weight.value.values());
  }
}

}  // namespace heed::train
