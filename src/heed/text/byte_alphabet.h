// A visible character for each of the 256 bytes, as in GPT-2: its vocabulary needs no others.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "heed/text/aligned_text.h"

namespace heed::text {

// UTF-8 of the character. Printable bytes of Latin-1 stand for themselves, the other 68 are U+0100
// and those after it.
std::string_view character_of_byte(unsigned char byte);

// The byte of such a character.
std::optional<char> byte_of_character(char32_t character);

inline constexpr char32_t space_in_byte_alphabet = 0x120;

// Appends part of a text with each byte as its character. All bytes of a character come from the
// whole of it.
void append_byte_characters(AlignedText& to, const AlignedText& from, std::size_t begin,
                            std::size_t end);

}  // namespace heed::text
