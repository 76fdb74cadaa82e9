#include "heed/text/base64.h"

#include <cstdint>

namespace heed::text {
namespace {

std::optional<std::uint32_t> value_of(char digit) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::size_t value = digits.find(digit);
  if (value == digits.npos) return std::nullopt;
  return static_cast<std::uint32_t>(value);
}

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  if (text.ends_with("==")) {
    text.remove_suffix(2);
  } else if (text.ends_with("=")) {
    text.remove_suffix(1);
  }
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t bits = 0;
  int num_bits = 0;
  for (const char digit : text) {
    const auto value = value_of(digit);
    if (!value) return std::nullopt;
    bits = (bits << 6 | *value) & 0xffff;
    num_bits += 6;
    if (num_bits < 8) continue;
    num_bits -= 8;
    bytes += static_cast<char>(static_cast<unsigned char>(bits >> num_bits & 0xff));
  }
  return bytes;
}

}  // namespace heed::text
