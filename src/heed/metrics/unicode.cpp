#include "heed/metrics/unicode.h"

#include <utf8proc.h>

namespace heed::metrics {
namespace {

struct CodePoint {
  char32_t value = 0;
  std::size_t num_bytes = 0;
};

// The first code point of a text that is not empty.
CodePoint front_of(std::string_view text) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  if (bytes[0] < 0x80) return {bytes[0], 1};
  utf8proc_int32_t value = 0;
  const auto length = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size()), &value);
  if (length <= 0) return {0xfffd, 1};
  return {static_cast<char32_t>(value), static_cast<std::size_t>(length)};
}

void append_utf8(std::string& text, char32_t c) {
  if (c < 0x80) {
    text += static_cast<char>(c);
    return;
  }
  utf8proc_uint8_t bytes[4];
  const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length));
}

utf8proc_category_t category_of(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

char32_t simple_lower(char32_t c) {
  return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
}

bool is_cased(char32_t c) {
  const auto point = static_cast<utf8proc_int32_t>(c);
  const auto category = category_of(c);
  return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL ||
         category == UTF8PROC_CATEGORY_LT || utf8proc_tolower(point) != point ||
         utf8proc_toupper(point) != point;
}

// What may stand between the letters of a word (Unicode: Case_Ignorable).
bool is_case_ignorable(char32_t c) {
  constexpr std::u32string_view word_middles =
      U"'.:\u00b7\u0387\u055f\u05f4\u2018\u2019\u2024"
      U"\u2027\ufe13\ufe52\ufe55\uff07\uff0e\uff1a";
  if (word_middles.find(c) != word_middles.npos) return true;
  switch (category_of(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return false;
  }
}

// A sigma is final when a letter comes before it and none after it (Unicode: Final_Sigma).
bool is_final_sigma(std::u32string_view text, std::size_t at) {
  std::size_t before = at;
  while (before > 0 && is_case_ignorable(text[before - 1])) --before;
  if (before == 0 || !is_cased(text[before - 1])) return false;
  std::size_t after = at + 1;
  while (after < text.size() && is_case_ignorable(text[after])) ++after;
  return after == text.size() || !is_cased(text[after]);
}

}  // namespace

std::u32string decode_utf8(std::string_view text) {
  std::u32string points;
  points.reserve(text.size());
  while (!text.empty()) {
    const CodePoint front = front_of(text);
    points.push_back(front.value);
    text.remove_prefix(front.num_bytes);
  }
  return points;
}

std::string encode_utf8(std::u32string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (const char32_t c : text) append_utf8(bytes, c);
  return bytes;
}

bool is_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x1f);
  return c == 0x85 || c == 0x2028 || c == 0x2029 || category_of(c) == UTF8PROC_CATEGORY_ZS;
}

bool is_punctuation(char32_t c) {
  switch (category_of(c)) {
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
      return true;
    default:
      return false;
  }
}

bool is_symbol(char32_t c) {
  switch (category_of(c)) {
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SC:
    case UTF8PROC_CATEGORY_SK:
    case UTF8PROC_CATEGORY_SO:
      return true;
    default:
      return false;
  }
}

bool is_number(char32_t c) {
  switch (category_of(c)) {
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return true;
    default:
      return false;
  }
}

bool is_letter(char32_t c) {
  switch (category_of(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return true;
    default:
      return false;
  }
}

std::string lower_case(std::string_view text) {
  constexpr char32_t capital_sigma = 0x3a3, small_sigma = 0x3c3, final_sigma = 0x3c2;
  constexpr char32_t capital_dotted_i = 0x130;
  const std::u32string points = decode_utf8(text);
  std::string lowered;
  lowered.reserve(text.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i] == capital_sigma) {
      append_utf8(lowered, is_final_sigma(points, i) ? final_sigma : small_sigma);
    } else if (points[i] == capital_dotted_i) {
      lowered += "i\u0307";
    } else {
      append_utf8(lowered, simple_lower(points[i]));
    }
  }
  return lowered;
}

std::string_view trim_end(std::string_view text) {
  while (!text.empty()) {
    std::size_t last = text.size() - 1;
    while (last > 0 && (static_cast<unsigned char>(text[last]) & 0xc0) == 0x80) --last;
    if (!is_space(front_of(text.substr(last)).value)) break;
    text = text.substr(0, last);
  }
  return text;
}

std::string_view trim(std::string_view text) {
  while (!text.empty()) {
    const CodePoint front = front_of(text);
    if (!is_space(front.value)) break;
    text.remove_prefix(front.num_bytes);
  }
  return trim_end(text);
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = front_of(text.substr(at));
    if (is_space(point.value)) {
      if (begin < at) words.push_back(text.substr(begin, at - begin));
      begin = at + point.num_bytes;
    }
    at += point.num_bytes;
  }
  if (begin < text.size()) words.push_back(text.substr(begin));
  return words;
}

}  // namespace heed::metrics
