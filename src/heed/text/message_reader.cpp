#include "heed/text/message_reader.h"

namespace heed::text {

bool MessageReader::next() {
  if (rest_.empty()) return false;
  const std::uint64_t tag = read_number();
  field = tag >> 3;
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
    if (byte < 0x80) break;
  }
  return value;
}

void MessageReader::read_value(int wire_type) {
  constexpr int varint = 0, eight_bytes = 1, length_first = 2, four_bytes = 5;
  if (wire_type == varint) {
    number = read_number();
    return;
  }
  std::uint64_t length = rest_.size();  // an unknown type: nothing after it can be read
  if (wire_type == eight_bytes) length = 8;
  if (wire_type == length_first) length = read_number();
  if (wire_type == four_bytes) length = 4;
  content = rest_.substr(0, length);
  rest_.remove_prefix(content.size());
}

}  // namespace heed::text
