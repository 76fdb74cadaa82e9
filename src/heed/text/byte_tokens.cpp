#include "heed/text/byte_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace heed::text {

ByteTokens::ByteTokens(const Vocabulary& vocabulary) {
  for (std::size_t byte = 0; byte < ids_.size(); ++byte) {
    ids_[byte] = vocabulary.find(fmt::format("<0x{:02X}>", byte)).value_or(none);
  }
}

bool ByteTokens::has_all(std::string_view text) const {
  return std::ranges::all_of(text, [&](char byte) { return id(byte) != none; });
}

std::optional<char> byte_of_token(std::string_view token) {
  constexpr std::size_t size = 6;  // of <0x0A>
  constexpr int hexadecimal = 16;
  if (token.size() != size || !token.starts_with("<0x") || token.back() != '>') return std::nullopt;
  const char *begin = token.data() + 3, *end = begin + 2;
  // As in Rust, whose parser takes a sign.
  if (*begin == '+') ++begin;
  unsigned char byte = 0;
  const auto [stop, error] = std::from_chars(begin, end, byte, hexadecimal);
  if (error != std::errc() || stop != end) return std::nullopt;
  return static_cast<char>(byte);
}

}  // namespace heed::text
