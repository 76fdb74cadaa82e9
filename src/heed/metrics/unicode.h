// Unicode character classes and cases for the metrics, as in Python's str and regex.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heed::metrics {

// Code points of UTF-8 text; bytes that are not UTF-8 become U+FFFD.
std::u32string decode_utf8(std::string_view text);
std::string encode_utf8(std::u32string_view text);

bool is_space(char32_t c);        // str.isspace
bool is_punctuation(char32_t c);  // \p{P}
bool is_symbol(char32_t c);       // \p{S}
bool is_number(char32_t c);       // \p{N}
bool is_letter(char32_t c);       // \p{L}

// str.lower: also the dotted capital I of Turkish and the sigma at the end of a Greek word.
std::string lower_case(std::string_view text);

// str.rstrip: without the space at its end.
std::string_view trim_end(std::string_view text);
// str.strip: without the space at both ends.
std::string_view trim(std::string_view text);

// str.split: words, separated by spaces of any kind. The words point into `text`.
std::vector<std::string_view> split_words(std::string_view text);

}  // namespace heed::metrics
