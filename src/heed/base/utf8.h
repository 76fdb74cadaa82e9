// UTF-8 validation.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace heed {

// Where the first sequence begins that is not UTF-8: a stray or missing continuation byte, an
// overlong form, a surrogate, or a value above U+10FFFF. Counted in bytes, from 0.
std::optional<std::size_t> first_invalid_byte(std::string_view text);

bool is_valid_utf8(std::string_view text);

// How many bytes the character that begins with this byte has: 1 to 4, in valid UTF-8.
std::size_t utf8_length(char first_byte);

}  // namespace heed
