// Code points of UTF-8 text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heed::text {

// The code point that begins at byte `at` of valid UTF-8; moves `at` behind it.
char32_t next_code_point(std::string_view text, std::size_t& at);

std::size_t count_code_points(std::string_view text);

void append_utf8(std::string& text, char32_t code_point);
std::string to_utf8(char32_t code_point);
std::u32string to_code_points(std::string_view text);  // of valid UTF-8

// Every maximal part of a sequence that is not UTF-8 becomes U+FFFD, as Unicode recommends (chapter
// 3.9, "substitution of maximal subparts").
std::string repair_utf8(std::string_view text);

}  // namespace heed::text
