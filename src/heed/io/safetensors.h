// Tensors on disk in the safetensors format: a JSON header, then the numbers, nothing else.
//
// Reading checks every rule of the format before a byte of data is used; a file that breaks one
// gets an Error(model) that names the file, the rule and what was found. docs/file_formats.md
// lists the rules.
//
// What Heed writes has a checksum in its metadata, and reading compares it. Files without one, as
// other programs write them, are read all the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/dtype.h"

namespace heed::io {

using Metadata = std::map<std::string, std::string>;

// One named tensor, row-major; `bytes` belong to someone else. Rank 0 and empty axes are allowed.
struct TensorRecord {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
};

// A view of numbers in memory, for writing.
TensorRecord float_record(std::string name, std::vector<std::int64_t> shape,
                          std::span<const float> values);

// A whole file; copies share it, and records point into it. It is mapped into memory, not read, if
// the system can do that.
class SafetensorsFile {
 public:
  // The whole header is checked before the data are touched, of which there may be at most
  // `max_data_bytes`.
  static SafetensorsFile load(
      const std::string& path,
      std::uint64_t max_data_bytes = std::numeric_limits<std::uint64_t>::max());
  // `source` stands for the file in messages.
  static SafetensorsFile parse(std::string bytes, std::string source);

  const std::vector<TensorRecord>& tensors() const { return tensors_; }  // sorted by name
  std::optional<TensorRecord> find(std::string_view name) const;
  TensorRecord require(std::string_view name) const;      // Error(model) when it is not there
  const Metadata& metadata() const { return metadata_; }  // without the checksum
  bool has_checksum() const { return has_checksum_; }     // one that fits
  const std::string& source() const { return source_; }

  // Any floating-point type as floats; f64 is rounded. Error(model) for other types. Reading
  // releases the bytes of the record.
  std::vector<float> to_floats(const TensorRecord& record) const;
  // The same into memory of exactly the record's size.
  void copy_floats(const TensorRecord& record, std::span<float> values) const;
  // Any integer type; Error(model) for other types and for u64 values beyond int64.
  std::vector<std::int64_t> to_integers(const TensorRecord& record) const;

  // For who has read `bytes`, which are part of a record's: they need no memory any more, though
  // they may be read again. Error(model) if the file became shorter meanwhile, so that they are not
  // its own.
  void release(std::span<const std::byte> bytes) const;

 private:
  class Builder;
  struct Contents;

  std::string source_;
  std::shared_ptr<const Contents> contents_;
  std::vector<TensorRecord> tensors_;
  Metadata metadata_;
  bool has_checksum_ = false;
};

// The numbers of a record as floats, as SafetensorsFile::copy_floats does it. `source` stands for
// the file in messages.
void copy_floats(const TensorRecord& record, std::span<float> values, const std::string& source);

// Does the file say that it has a checksum? Reads the header only.
bool has_checksum(const std::string& path);

// The names of all tensors, sorted. Reads the header only.
std::vector<std::string> tensor_names(const std::string& path);

// One tensor of a file.
struct StoredTensor {
  std::string path, name;
};
// Do both have the same type, shape and bytes? Reads no more than it takes to say no.
bool have_same_bytes(const StoredTensor& a, const StoredTensor& b);

// Replaces `path` in one step (see AtomicFile), streaming. The data stand by size of element,
// largest first, then by name, so that every tensor is aligned, and equal tensors make equal files.
// Adds the checksum. Refuses names that occur twice, are no UTF-8 or hold control characters, and
// shapes that do not fit their bytes.
void write_safetensors(const std::string& path, std::span<const TensorRecord> tensors,
                       Metadata metadata = {});

}  // namespace heed::io
