#include "heed/base/printable.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <optional>

namespace heed {
namespace {

constexpr std::string_view ellipsis = "...";

// Controls, and the ends of lines and paragraphs.
bool is_control(utf8proc_int32_t character) {
  const utf8proc_category_t category = utf8proc_category(character);
  return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_ZL ||
         category == UTF8PROC_CATEGORY_ZP;
}

// Among them marks of direction, with which a terminal shows a text in another order. The joiners
// of emoji and of some scripts are harmless.
bool is_format(utf8proc_int32_t character) {
  constexpr utf8proc_int32_t non_joiner = 0x200c, joiner = 0x200d;
  return utf8proc_category(character) == UTF8PROC_CATEGORY_CF && character != non_joiner &&
         character != joiner;
}

std::string escape(utf8proc_int32_t character) {
  if (character == '\n') return "\\n";
  if (character == '\r') return "\\r";
  if (character == '\t') return "\\t";
  if (character < 0x80) return fmt::format("\\x{:02x}", character);
  if (character < 0x10000) return fmt::format("\\u{:04x}", character);
  return fmt::format("\\U{:08x}", character);
}

// The first character of the text, and its bytes; nothing and one byte where it is not UTF-8.
struct Character {
  std::optional<utf8proc_int32_t> value;
  std::string_view bytes;
};

Character first_character(std::string_view text) {
  constexpr std::size_t longest = 4;
  utf8proc_int32_t value = 0;
  const auto length =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                       static_cast<utf8proc_ssize_t>(std::min(text.size(), longest)), &value);
  if (length <= 0) return {std::nullopt, text.substr(0, 1)};
  return {value, text.substr(0, static_cast<std::size_t>(length))};
}

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const auto [value, bytes] = first_character(text);
    text.remove_prefix(bytes.size());
    if (!value) {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes.front()));
    } else if (is_control(*value) || is_format(*value)) {
      shown += escape(*value);
    } else {
      shown += bytes;
    }
  }
  return shown;
}

std::string escape_controls(std::string_view text, std::string_view kept) {
  std::string escaped;
  while (!text.empty()) {
    const auto [value, bytes] = first_character(text);
    text.remove_prefix(bytes.size());
    const bool stays = !value || !is_control(*value) || kept.find(bytes) != kept.npos;
    escaped += stays ? std::string(bytes) : escape(*value);
  }
  return escaped;
}

std::string shorten_middle(std::string text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  const std::size_t kept = max_bytes - std::min(max_bytes, ellipsis.size());
  std::size_t head = kept - kept / 2;
  std::size_t tail = text.size() - kept / 2;
  while (head > 0 && is_continuation(text[head])) --head;
  while (tail < text.size() && is_continuation(text[tail])) ++tail;
  return text.replace(head, tail - head, ellipsis);
}

std::string excerpt(std::string_view text, std::size_t max_bytes) {
  // Escapes make a text longer, never shorter: its ends are all that can be shown.
  if (text.size() > 2 * max_bytes) {
    const std::string ends =
        std::string(text.substr(0, max_bytes)) + std::string(text.substr(text.size() - max_bytes));
    return shorten_middle(printable(ends), max_bytes);
  }
  return shorten_middle(printable(text), max_bytes);
}

bool has_control_characters(std::string_view text) {
  while (!text.empty()) {
    const auto [value, bytes] = first_character(text);
    text.remove_prefix(bytes.size());
    if (!value || is_control(*value)) return true;
  }
  return false;
}

}  // namespace heed
