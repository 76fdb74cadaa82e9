#include "heed/cli/one_line.h"

#include <fmt/format.h>

#include <algorithm>

#include "heed/text/utf8.h"

namespace heed::cli {
namespace {

// Control characters (C0, DEL, C1) and the separators of lines and paragraphs.
bool is_control(unsigned code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029;
}

// The code point of a character of up to three bytes. Larger ones are no control characters, nor
// is half a character, which stays as it is.
unsigned code_of(std::string_view character) {
  constexpr unsigned other = 0xfffd;
  if (character.size() != text::utf8_length(character.front())) return other;
  const auto bits = [&](std::size_t i, unsigned mask) {
    return static_cast<unsigned char>(character[i]) & mask;
  };
  switch (character.size()) {
    case 1:
      return bits(0, 0xff) < 0x80 ? bits(0, 0xff) : other;
    case 2:
      return bits(0, 0x1f) << 6 | bits(1, 0x3f);
    case 3:
      return bits(0, 0x0f) << 12 | bits(1, 0x3f) << 6 | bits(2, 0x3f);
    default:
      return other;
  }
}

std::string escape(unsigned code) {
  switch (code) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return code < 0x80 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
  }
}

// The first character with those of its continuation bytes that are there.
std::string_view first_character(std::string_view text) {
  std::size_t length = 1;
  const std::size_t most = std::min(text.size(), text::utf8_length(text.front()));
  while (length < most && (text[length] & 0xc0) == 0x80) ++length;
  return text.substr(0, length);
}

// Escapes all control characters but those of `kept`.
std::string escape_controls(std::string_view text, std::string_view kept) {
  std::string escaped;
  while (!text.empty()) {
    const std::string_view character = first_character(text);
    const unsigned code = code_of(character);
    const bool is_kept = character.size() == 1 && kept.find(character.front()) != kept.npos;
    escaped += is_control(code) && !is_kept ? escape(code) : std::string(character);
    text.remove_prefix(character.size());
  }
  return escaped;
}

}  // namespace

std::string on_one_line(std::string_view text) { return escape_controls(text, ""); }

std::string on_several_lines(std::string_view text) { return escape_controls(text, "\n\t"); }

}  // namespace heed::cli
