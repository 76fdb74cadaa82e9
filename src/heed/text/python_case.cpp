// Upper, lower and title case as Python has them: with the characters that become several.
#include <utf8proc.h>

#include <string>

#include "heed/text/code_points.h"
#include "heed/text/python_text.h"
#include "heed/text/unicode_classes.h"

namespace heed::text::python {
namespace {

utf8proc_category_t category(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

char32_t simple_upper(char32_t c) {
  return static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c)));
}

char32_t simple_title(char32_t c) {
  return static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(c)));
}

// Letters of a case, also those that are numbers or symbols.
bool is_cased(char32_t c) {
  const utf8proc_category_t kind = category(c);
  if (kind == UTF8PROC_CATEGORY_LU || kind == UTF8PROC_CATEGORY_LL ||
      kind == UTF8PROC_CATEGORY_LT) {
    return true;
  }
  const bool is_modifier = (c >= 0x2B0 && c <= 0x2B8) || c == 0x2C0 || c == 0x2C1 ||
                           (c >= 0x2E0 && c <= 0x2E4) || c == 0xAA || c == 0xBA;
  return is_modifier || simple_upper(c) != c || simple_lower_case(c) != c;
}

// What stands inside words without being a letter of a case.
bool is_case_ignorable(char32_t c) {
  switch (category(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return c == U'\'' || c == U'.' || c == U':' || c == 0xB7 || c == 0x2018 || c == 0x2019 ||
             c == 0x2024 || c == 0x2027;
  }
}

// A capital sigma at the end of a word has a lower case of its own.
bool is_final_sigma(const std::u32string& text, std::size_t at) {
  std::size_t before = at;
  while (before > 0 && is_case_ignorable(text[before - 1])) --before;
  if (before == 0 || !is_cased(text[before - 1])) return false;
  std::size_t after = at + 1;
  while (after < text.size() && is_case_ignorable(text[after])) ++after;
  return after == text.size() || !is_cased(text[after]);
}

void append_lower(std::string& out, const std::u32string& text, std::size_t at) {
  constexpr char32_t capital_sigma = 0x3A3, final_sigma = 0x3C2;
  if (text[at] == capital_sigma && is_final_sigma(text, at)) {
    append_utf8(out, final_sigma);
  } else {
    lower_case(text[at], [&](char32_t c) { append_utf8(out, c); });
  }
}

// The characters that become several are those whose full case folding is several: sharp s,
// ligatures, and Greek letters with iota.
std::u32string several(char32_t c) {
  if (c < 0x80 || category(c) == UTF8PROC_CATEGORY_LU) return {};
  utf8proc_int32_t folded[4] = {};
  int boundary = 0;
  const utf8proc_ssize_t count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), folded,
                                                         4, UTF8PROC_CASEFOLD, &boundary);
  if (count < 2 || count > 4) return {};
  std::u32string parts;
  for (utf8proc_ssize_t i = 0; i < count; ++i) parts += static_cast<char32_t>(folded[i]);
  return parts;
}

void append_upper(std::string& out, char32_t c) {
  const std::u32string parts = several(c);
  if (parts.empty()) return append_utf8(out, simple_upper(c));
  for (const char32_t part : parts) append_utf8(out, simple_upper(part));
}

void append_title(std::string& out, char32_t c) {
  constexpr char32_t sharp_s = 0xDF;  // "Ss", although it has a capital form
  const bool is_title = category(c) == UTF8PROC_CATEGORY_LT;
  const bool has_title = simple_title(c) != c && c != sharp_s;
  const std::u32string parts = is_title || has_title ? std::u32string() : several(c);
  if (parts.empty()) return append_utf8(out, simple_title(c));
  bool is_first = true;
  for (const char32_t part : parts) {
    append_utf8(out, is_first ? simple_title(part) : part);
    is_first = is_first && !is_cased(part);
  }
}

}  // namespace

std::string upper(std::string_view text) {
  std::string out;
  for (const char32_t c : to_code_points(text)) append_upper(out, c);
  return out;
}

std::string lower(std::string_view text) {
  const std::u32string characters = to_code_points(text);
  std::string out;
  for (std::size_t i = 0; i < characters.size(); ++i) append_lower(out, characters, i);
  return out;
}

std::string title(std::string_view text) {
  const std::u32string characters = to_code_points(text);
  std::string out;
  bool is_inside = false;
  for (std::size_t i = 0; i < characters.size(); ++i) {
    is_inside ? append_lower(out, characters, i) : append_title(out, characters[i]);
    is_inside = is_cased(characters[i]);
  }
  return out;
}

std::string capitalize(std::string_view text) {
  const std::u32string characters = to_code_points(text);
  std::string out;
  for (std::size_t i = 0; i < characters.size(); ++i) {
    i == 0 ? append_title(out, characters[i]) : append_lower(out, characters, i);
  }
  return out;
}

}  // namespace heed::text::python
