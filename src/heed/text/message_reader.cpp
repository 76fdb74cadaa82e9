#include "heed/text/message_reader.h"

namespace heed::text {
namespace {

constexpr std::uint64_t max_field = (1 << 29) - 1;

}  // namespace

bool MessageReader::next() {
  if (rest_.empty()) return false;
  const std::uint64_t tag = read_number();
  field = tag >> 3;
  if (field == 0 || field > max_field) is_damaged_ = true;
  read_value(static_cast<int>(tag & 7));
  return true;
}

bool MessageReader::find(std::uint64_t wanted) {
  while (next()) {
    if (field == wanted) return true;
  }
  return false;
}

std::uint64_t MessageReader::read_number() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  is_damaged_ = true;
  return value;
}

void MessageReader::read_value(int wire_type) {
  constexpr int varint = 0, eight_bytes = 1, length_first = 2, four_bytes = 5;
  content = {};
  switch (wire_type) {
    case varint:
      number = read_number();
      return;
    case eight_bytes:
      return read_content(8);
    case length_first:
      return read_content(read_number());
    case four_bytes:
      return read_content(4);
    default:  // nothing after it can be read
      is_damaged_ = true;
      return read_content(rest_.size());
  }
}

void MessageReader::read_content(std::uint64_t length) {
  if (length > rest_.size()) is_damaged_ = true;
  content = rest_.substr(0, length);
  rest_.remove_prefix(content.size());
}

}  // namespace heed::text
