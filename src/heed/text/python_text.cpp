#include "heed/text/python_text.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "heed/text/code_points.h"
#include "heed/text/unicode_classes.h"

namespace heed::text::python {

bool is_space(char32_t c) { return is_white_space(c) || (c >= 0x1C && c <= 0x1F); }

namespace {

// The byte where the character before byte `end` begins.
std::size_t previous(std::string_view text, std::size_t end) {
  do {
    --end;
  } while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0u) == 0x80u);
  return end;
}

// Is `c` one of those that are stripped?
struct Stripped {
  std::optional<std::u32string> characters;
  bool operator()(char32_t c) const {
    return characters ? characters->find(c) != characters->npos : is_space(c);
  }
};

}  // namespace

std::string_view strip(std::string_view text, Side side,
                       std::optional<std::string_view> characters) {
  Stripped is_stripped;
  if (characters) is_stripped.characters = to_code_points(*characters);
  std::size_t begin = 0, end = text.size();
  while (side != Side::right && begin < end) {
    std::size_t next = begin;
    if (!is_stripped(next_code_point(text, next))) break;
    begin = next;
  }
  while (side != Side::left && begin < end) {
    const std::size_t last = previous(text, end);
    std::size_t at = last;
    if (!is_stripped(next_code_point(text, at))) break;
    end = last;
  }
  return text.substr(begin, end - begin);
}

std::vector<std::string> split(std::string_view text, std::string_view separator,
                               std::ptrdiff_t max_splits, Side from) {
  std::vector<std::string> parts;
  if (from == Side::left) {
    for (; max_splits != 0; --max_splits) {
      const std::size_t end = text.find(separator);
      if (end == text.npos) break;
      parts.emplace_back(text.substr(0, end));
      text.remove_prefix(end + separator.size());
    }
    parts.emplace_back(text);
    return parts;
  }
  for (; max_splits != 0; --max_splits) {
    const std::size_t begin = text.rfind(separator);
    if (begin == text.npos) break;
    parts.emplace_back(text.substr(begin + separator.size()));
    text = text.substr(0, begin);
  }
  parts.emplace_back(text);
  std::reverse(parts.begin(), parts.end());
  return parts;
}

namespace {

// The first or last word of what is left, which must not begin or end with a space.
std::string_view take_word(std::string_view& text, Side from) {
  if (from == Side::left) {
    std::size_t at = 0, end = 0;
    while (at < text.size() && !is_space(next_code_point(text, at))) end = at;
    const std::string_view word = text.substr(0, end);
    text = strip(text.substr(end), Side::left);
    return word;
  }
  std::size_t begin = text.size();
  while (begin > 0) {
    const std::size_t last = previous(text, begin);
    std::size_t at = last;
    if (is_space(next_code_point(text, at))) break;
    begin = last;
  }
  const std::string_view word = text.substr(begin);
  text = strip(text.substr(0, begin), Side::right);
  return word;
}

}  // namespace

std::vector<std::string> split_at_spaces(std::string_view text, std::ptrdiff_t max_splits,
                                         Side from) {
  std::vector<std::string> parts;
  text = strip(text, from);
  for (; max_splits != 0; --max_splits) {
    const std::string_view rest = strip(text);
    if (rest.empty()) break;
    parts.emplace_back(take_word(text, from));
  }
  text = strip(text, from);
  if (!text.empty()) parts.emplace_back(text);
  if (from == Side::right) std::reverse(parts.begin(), parts.end());
  return parts;
}

namespace {

bool ends_line(char32_t c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 ||
         c == 0x2029;
}

}  // namespace

std::vector<std::string> split_lines(std::string_view text, bool keep_ends) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = at;
    const char32_t c = next_code_point(text, at);
    if (!ends_line(c)) continue;
    if (c == U'\r' && at < text.size() && text[at] == '\n') ++at;
    lines.emplace_back(text.substr(begin, (keep_ends ? at : end) - begin));
    begin = at;
  }
  if (begin < text.size()) lines.emplace_back(text.substr(begin));
  return lines;
}

namespace {

std::string insert_between(std::string_view text, std::string_view with, std::ptrdiff_t count) {
  std::string out;
  std::size_t at = 0;
  while (true) {
    if (count != 0) out += with, --count;
    if (at == text.size()) return out;
    const std::size_t begin = at;
    next_code_point(text, at);
    out += text.substr(begin, at - begin);
  }
}

}  // namespace

std::string replace(std::string_view text, std::string_view old, std::string_view with,
                    std::ptrdiff_t count) {
  if (old.empty()) return insert_between(text, with, count);
  std::string out;
  for (; count != 0; --count) {
    const std::size_t at = text.find(old);
    if (at == text.npos) break;
    out += text.substr(0, at);
    out += with;
    text.remove_prefix(at + old.size());
  }
  return out += text;
}

namespace {

bool is_printable(char32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return false;
    case UTF8PROC_CATEGORY_ZS:
      return c == U' ';
    default:
      return true;
  }
}

std::string escape(char32_t c, char quote) {
  if (c == U'\n') return "\\n";
  if (c == U'\r') return "\\r";
  if (c == U'\t') return "\\t";
  if (c == U'\\' || c == static_cast<char32_t>(quote)) return std::string("\\").append(to_utf8(c));
  if (is_printable(c)) return to_utf8(c);
  const auto number = static_cast<std::uint32_t>(c);
  if (c < 0x100) return fmt::format("\\x{:02x}", number);
  return c < 0x10000 ? fmt::format("\\u{:04x}", number) : fmt::format("\\U{:08x}", number);
}

}  // namespace

std::string repr(std::string_view text) {
  const bool is_double = text.find('\'') != text.npos && text.find('"') == text.npos;
  const char quote = is_double ? '"' : '\'';
  std::string out(1, quote);
  for (std::size_t at = 0; at < text.size();) out += escape(next_code_point(text, at), quote);
  return out += quote;
}

std::string repr(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  // The shortest digits, with an exponent where Python has one.
  const double size = std::abs(number);
  const bool has_exponent = size != 0 && (size < 1e-4 || size >= 1e16);
  std::array<char, 400> buffer;
  const auto format = has_exponent ? std::chars_format::scientific : std::chars_format::fixed;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, format).ptr;
  std::string out(buffer.data(), end);
  if (!has_exponent && out.find('.') == out.npos) out += ".0";
  return out;
}

}  // namespace heed::text::python
