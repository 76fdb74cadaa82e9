#include "heed/base/utf8.h"

#include <utf8proc.h>

namespace heed {

std::optional<std::size_t> first_invalid_byte(std::string_view text) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  std::size_t at = 0;
  while (at < text.size()) {
    if (bytes[at] < 0x80) {  // most text is mostly ASCII
      ++at;
      continue;
    }
    utf8proc_int32_t code_point = 0;
    const auto length =
        utf8proc_iterate(bytes + at, static_cast<utf8proc_ssize_t>(text.size() - at), &code_point);
    if (length <= 0) return at;
    at += static_cast<std::size_t>(length);
  }
  return std::nullopt;
}

bool is_valid_utf8(std::string_view text) { return !first_invalid_byte(text).has_value(); }

std::size_t utf8_length(char first_byte) {
  const auto byte = static_cast<unsigned char>(first_byte);
  if (byte < 0xc0) return 1;
  if (byte < 0xe0) return 2;
  return byte < 0xf0 ? 3 : 4;
}

}  // namespace heed
