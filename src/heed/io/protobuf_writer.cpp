#include "heed/io/protobuf_writer.h"

#include <bit>

namespace heed::io {
namespace {

constexpr std::uint64_t varint_type = 0, length_first = 2, four_bytes = 5;

}  // namespace

void MessageWriter::number(int field, std::uint64_t value) {
  tag(field, varint_type);
  varint(value);
}

void MessageWriter::real(int field, float value) {
  tag(field, four_bytes);
  const auto bits = std::bit_cast<std::uint32_t>(value);
  for (int shift = 0; shift < 32; shift += 8) {
    content += static_cast<char>(static_cast<unsigned char>((bits >> shift) & 0xff));
  }
}

void MessageWriter::bytes(int field, std::string_view value) {
  bytes_head(field, value.size());
  content += value;
}

void MessageWriter::bytes_head(int field, std::uint64_t size) {
  tag(field, length_first);
  varint(size);
}

void MessageWriter::tag(int field, std::uint64_t wire_type) {
  varint(static_cast<std::uint64_t>(field) << 3 | wire_type);
}

void MessageWriter::varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    content += static_cast<char>(static_cast<unsigned char>((value & 0x7f) | 0x80));
  }
  content += static_cast<char>(static_cast<unsigned char>(value));
}

}  // namespace heed::io
