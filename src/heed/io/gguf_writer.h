// GGUF files, version 3: what llama.cpp and its relatives load.
//
// A header, metadata as keys with typed values, the names, shapes and places of the tensors, then
// their data, each aligned to 32 bytes. All numbers are little-endian.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed::io {

// q8_0: blocks of 32 numbers of a row, each a float16 scale and 32 int8.
enum class GgufType : std::uint32_t { f32 = 0, f16 = 1, q8_0 = 8 };

inline constexpr std::int64_t gguf_block = 32;  // numbers of a block of q8_0

class GgufWriter {
 public:
  // Metadata, in the order of the calls.
  void number(std::string_view key, std::uint32_t value);
  void real(std::string_view key, float value);
  void flag(std::string_view key, bool value);
  void text(std::string_view key, std::string_view value);
  void texts(std::string_view key, std::span<const std::string> values);
  void reals(std::string_view key, std::span<const float> values);
  void integers(std::string_view key, std::span<const std::int32_t> values);

  // A tensor of that shape, row-major; its values are asked for when they are written, so that
  // they need no memory before. Refuses q8_0 for rows that are no whole blocks.
  using Values = std::function<std::vector<float>()>;
  void tensor(std::string name, std::vector<std::int64_t> shape, GgufType type, Values values);

  // Replaces `path` in one step (see AtomicFile). Refuses (ErrorKind::model) numbers that are
  // beyond the range of their type.
  void write(const std::string& path) const;

 private:
  struct TensorEntry {
    std::string name;
    std::vector<std::int64_t> shape;
    GgufType type;
    Values values;
    std::uint64_t num_bytes;
  };

  std::string head() const;
  void key(std::string_view name, std::uint32_t type);

  std::string metadata_;
  std::uint64_t num_keys_ = 0;
  std::vector<TensorEntry> tensors_;
};

// Numbers as blocks of q8_0, appended to `bytes`. A number is off by half a step at most: the
// largest of its block / 254.
void append_q8_0(std::string& bytes, std::span<const float> values);

}  // namespace heed::io
