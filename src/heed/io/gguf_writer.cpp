#include "heed/io/gguf_writer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

#include "heed/base/cancellation.h"
#include "heed/base/error.h"
#include "heed/base/half.h"
#include "heed/io/files.h"

namespace heed::io {
namespace {

static_assert(std::endian::native == std::endian::little,
              "numbers are written as they are in memory");

constexpr std::uint64_t alignment = 32;

// Types of metadata.
constexpr std::uint32_t uint32_type = 4, int32_type = 5, float32_type = 6, bool_type = 7,
                        string_type = 8, array_type = 9;

template <typename Number>
void append(std::string& bytes, Number value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes.append(raw, sizeof value);
}

void append_text(std::string& bytes, std::string_view text) {
  append(bytes, static_cast<std::uint64_t>(text.size()));
  bytes += text;
}

void append_array_head(std::string& bytes, std::uint32_t type, std::size_t size) {
  append(bytes, type);
  append(bytes, static_cast<std::uint64_t>(size));
}

std::uint64_t padding_after(std::uint64_t size) {
  return (alignment - size % alignment) % alignment;
}

std::uint64_t encoded_bytes(GgufType type, std::uint64_t count) {
  constexpr std::uint64_t block_bytes = 2 + gguf_block;
  switch (type) {
    case GgufType::f16:
      return 2 * count;
    case GgufType::q8_0:
      return count / gguf_block * block_bytes;
    case GgufType::f32:
      break;
  }
  return 4 * count;
}

std::string encode(GgufType type, std::span<const float> values) {
  std::string bytes;
  bytes.reserve(encoded_bytes(type, values.size()));
  switch (type) {
    case GgufType::f32:
      bytes.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
      break;
    case GgufType::f16:
      for (const float value : values) append(bytes, float_to_float16(value));
      break;
    case GgufType::q8_0:
      append_q8_0(bytes, values);
      break;
  }
  return bytes;
}

// Of float16, which the scales of q8_0 are too.
void check_range(const std::string& name, GgufType type, std::span<const float> values) {
  constexpr float half_max = 65504, most_steps = 127;
  const float max = type == GgufType::q8_0 ? half_max * most_steps : half_max;
  for (const float value : values) {
    check_as(ErrorKind::model, type == GgufType::f32 || std::abs(value) <= max, name,
             ": expected numbers up to ", max, " for this format of weights, found ", value);
  }
}

}  // namespace

void append_q8_0(std::string& bytes, std::span<const float> values) {
  constexpr float most_steps = 127;
  for (std::size_t at = 0; at < values.size(); at += gguf_block) {
    const auto block = values.subspan(at, gguf_block);
    float largest = 0;
    for (const float value : block) largest = std::max(largest, std::abs(value));
    const std::uint16_t half = float_to_float16(largest / most_steps);
    const float scale = float16_to_float(half);
    append(bytes, half);
    for (const float value : block) {
      const float steps = scale > 0 ? std::round(value / scale) : 0.0f;
      append(bytes, static_cast<std::int8_t>(std::clamp(steps, -most_steps, most_steps)));
    }
  }
}

void GgufWriter::key(std::string_view name, std::uint32_t type) {
  append_text(metadata_, name);
  append(metadata_, type);
  ++num_keys_;
}

void GgufWriter::number(std::string_view name, std::uint32_t value) {
  key(name, uint32_type);
  append(metadata_, value);
}

void GgufWriter::real(std::string_view name, float value) {
  key(name, float32_type);
  append(metadata_, value);
}

void GgufWriter::flag(std::string_view name, bool value) {
  key(name, bool_type);
  append(metadata_, static_cast<std::uint8_t>(value ? 1 : 0));
}

void GgufWriter::text(std::string_view name, std::string_view value) {
  key(name, string_type);
  append_text(metadata_, value);
}

void GgufWriter::texts(std::string_view name, std::span<const std::string> values) {
  key(name, array_type);
  append_array_head(metadata_, string_type, values.size());
  for (const std::string& value : values) append_text(metadata_, value);
}

void GgufWriter::reals(std::string_view name, std::span<const float> values) {
  key(name, array_type);
  append_array_head(metadata_, float32_type, values.size());
  for (const float value : values) append(metadata_, value);
}

void GgufWriter::integers(std::string_view name, std::span<const std::int32_t> values) {
  key(name, array_type);
  append_array_head(metadata_, int32_type, values.size());
  for (const std::int32_t value : values) append(metadata_, value);
}

void GgufWriter::tensor(std::string name, std::vector<std::int64_t> shape, GgufType type,
                        Values values) {
  check(!shape.empty() && (type != GgufType::q8_0 || shape.back() % gguf_block == 0), name,
        ": expected rows of whole blocks of ", gguf_block);
  const auto count = static_cast<std::uint64_t>(
      std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>()));
  tensors_.push_back(
      {std::move(name), std::move(shape), type, std::move(values), encoded_bytes(type, count)});
}

std::string GgufWriter::head() const {
  constexpr std::uint32_t version = 3;
  std::string bytes = "GGUF";
  append(bytes, version);
  append(bytes, static_cast<std::uint64_t>(tensors_.size()));
  append(bytes, num_keys_);
  bytes += metadata_;
  std::uint64_t offset = 0;
  for (const TensorEntry& entry : tensors_) {
    append_text(bytes, entry.name);
    append(bytes, static_cast<std::uint32_t>(entry.shape.size()));
    for (auto size = entry.shape.rbegin(); size != entry.shape.rend(); ++size) {
      append(bytes, static_cast<std::uint64_t>(*size));  // the contiguous axis first
    }
    append(bytes, static_cast<std::uint32_t>(entry.type));
    append(bytes, offset);
    offset += entry.num_bytes + padding_after(entry.num_bytes);
  }
  bytes.append(padding_after(bytes.size()), '\0');
  return bytes;
}

void GgufWriter::write(const std::string& path) const {
  AtomicFile file(path);
  file.write(head());
  for (const TensorEntry& entry : tensors_) {
    check_cancelled();
    const std::vector<float> values = entry.values();
    check_range(entry.name, entry.type, values);
    std::string bytes = encode(entry.type, values);
    check(bytes.size() == entry.num_bytes, entry.name, ": expected ", entry.num_bytes,
          " bytes, got ", bytes.size());
    bytes.append(padding_after(bytes.size()), '\0');
    file.write(bytes);
  }
  file.commit();
}

}  // namespace heed::io
