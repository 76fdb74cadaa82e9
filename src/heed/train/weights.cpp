#include "heed/train/weights.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/io/sha256.h"
#include "heed/kernels/adam.h"

namespace heed::train {
namespace {

constexpr const char* checksum_name = "sha256";
constexpr Index piece_size = 32768;

std::vector<std::int64_t> sizes_of(const Tensor& tensor) {
  return {tensor.shape().sizes().begin(), tensor.shape().sizes().end()};
}

// Over the metadata and the tensors in the order of their names.
std::string checksum(std::vector<io::TensorRecord> records, const io::Metadata& metadata) {
  std::ranges::sort(records, {}, &io::TensorRecord::name);
  io::Sha256 hash;
  for (const auto& [key, value] : metadata) {
    if (key != checksum_name) hash.update(key + '\0' + value + '\0');
  }
  for (const io::TensorRecord& record : records) {
    hash.update(record.name);
    hash.update(record.bytes);
  }
  return hash.hex_digest();
}

// The sum of squares in double is finite if and only if all floats are: none of their squares comes
// near the largest double.
bool is_finite(const Tensor& tensor) {
  std::atomic<bool> all_finite{true};
  parallel_ranges(tensor.size(), piece_size, [&](Index begin, Index end) {
    if (!std::isfinite(kernels::sum_of_squares(tensor.data() + begin, end - begin))) {
      all_finite = false;
    }
  });
  return all_finite;
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
  const auto found = std::ranges::find_if(
      weights, [](const nn::NamedTensor& weight) { return !is_finite(weight.value); });
  if (found == weights.end()) return std::nullopt;
  return found->name;
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
  metadata[checksum_name] = checksum(records_, metadata);
  io::write_safetensors(path, records_, metadata);
}

io::SafetensorsFile load_checked(const std::string& path) {
  auto file = io::SafetensorsFile::load(path);
  const auto found = file.metadata().find(checksum_name);
  check_as(ErrorKind::model, found != file.metadata().end(), path,
           ": expected a checksum in the metadata, found none");
  check_as(ErrorKind::model, found->second == checksum(file.tensors(), file.metadata()), path,
           ": expected contents that fit their checksum, found a damaged file");
  return file;
}

void read_weights(const io::SafetensorsFile& file, std::string_view prefix, Weights& weights) {
  for (nn::NamedTensor& weight : weights) {
    const io::TensorRecord record = file.require(std::string(prefix) + weight.name);
    const Shape shape(record.shape);
    check_as(ErrorKind::model, shape == weight.value.shape(), file.source(), ": ", record.name,
             ": expected shape ", weight.value.shape(), ", found ", shape);
    file.copy_floats(record, weight.value.values());
  }
}

}  // namespace heed::train
