#include "heed/text/code_points.h"

#include <algorithm>

#include "heed/base/utf8.h"

namespace heed::text {
namespace {

constexpr std::string_view replacement_character = "\xef\xbf\xbd";  // U+FFFD

unsigned char byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

// What the second byte of a sequence may be: less than other continuation bytes where that would be
// an overlong form, a surrogate, or above U+10FFFF.
bool is_second_byte(unsigned char first, unsigned char second) {
  switch (first) {
    case 0xe0:
      return second >= 0xa0 && second <= 0xbf;
    case 0xed:
      return second >= 0x80 && second <= 0x9f;
    case 0xf0:
      return second >= 0x90 && second <= 0xbf;
    case 0xf4:
      return second >= 0x80 && second <= 0x8f;
    default:
      return second >= 0x80 && second <= 0xbf;
  }
}

struct Sequence {
  std::size_t size;  // in bytes, as far as it is one
  bool is_whole;
};

// The longest beginning of a sequence at `at`; at least one byte.
Sequence sequence_at(std::string_view text, std::size_t at) {
  const unsigned char first = byte_at(text, at);
  if (first < 0x80) return {1, true};
  if (first < 0xc2 || first > 0xf4) return {1, false};
  const std::size_t length = utf8_length(text[at]);
  std::size_t size = 1;
  while (size < length && at + size < text.size()) {
    const unsigned char byte = byte_at(text, at + size);
    const bool fits = size == 1 ? is_second_byte(first, byte) : byte >= 0x80 && byte <= 0xbf;
    if (!fits) break;
    ++size;
  }
  return {size, size == length};
}

}  // namespace

char32_t next_code_point(std::string_view text, std::size_t& at) {
  const char32_t first = byte_at(text, at++);
  if (first < 0x80) return first;
  const std::size_t length = utf8_length(text[at - 1]);
  char32_t code_point = first & (0x7fU >> length);
  for (std::size_t i = 1; i < length && at < text.size(); ++i) {
    code_point = code_point << 6 | (byte_at(text, at++) & 0x3fU);
  }
  return code_point;
}

std::size_t count_code_points(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }));
}

void append_utf8(std::string& text, char32_t code_point) {
  const auto add = [&](char32_t bits) {
    text += static_cast<char>(static_cast<unsigned char>(bits));
  };
  if (code_point < 0x80) {
    add(code_point);
  } else if (code_point < 0x800) {
    add(0xc0 | code_point >> 6);
    add(0x80 | (code_point & 0x3f));
  } else if (code_point < 0x10000) {
    add(0xe0 | code_point >> 12);
    add(0x80 | (code_point >> 6 & 0x3f));
    add(0x80 | (code_point & 0x3f));
  } else {
    add(0xf0 | code_point >> 18);
    add(0x80 | (code_point >> 12 & 0x3f));
    add(0x80 | (code_point >> 6 & 0x3f));
    add(0x80 | (code_point & 0x3f));
  }
}

std::string to_utf8(char32_t code_point) {
  std::string text;
  append_utf8(text, code_point);
  return text;
}

std::u32string to_code_points(std::string_view text) {
  std::u32string code_points;
  for (std::size_t at = 0; at < text.size();) code_points += next_code_point(text, at);
  return code_points;
}

std::string repair_utf8(std::string_view text) {
  std::string repaired;
  repaired.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Sequence sequence = sequence_at(text, at);
    repaired += sequence.is_whole ? text.substr(at, sequence.size) : replacement_character;
    at += sequence.size;
  }
  return repaired;
}

}  // namespace heed::text
