#include "heed/metrics/word_alignment.h"

#include <charconv>

#include "heed/base/error.h"
#include "heed/metrics/unicode.h"

namespace heed::metrics {
namespace {

// Takes digits from the front of `text`; false when there are none, or too many.
bool take_number(std::string_view& text, Index& number) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && number >= 0;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return is_number;
}

// Two numbers and the character between them; '\0' if the text is anything else.
char parse_link(std::string_view text, AlignedWords& link) {
  if (!take_number(text, link.source) || text.empty()) return '\0';
  const char between = text.front();
  text.remove_prefix(1);
  return take_number(text, link.target) && text.empty() ? between : '\0';
}

}  // namespace

std::string to_pharaoh(std::span<const AlignedWords> alignment) {
  std::string text;
  for (const AlignedWords& link : alignment) {
    if (!text.empty()) text += ' ';
    text += std::to_string(link.source) + '-' + std::to_string(link.target);
  }
  return text;
}

std::vector<AlignedWords> parse_pharaoh(std::string_view line, std::string_view where) {
  std::vector<AlignedWords> alignment;
  for (const std::string_view word : split_words(line)) {
    AlignedWords link;
    check_as(ErrorKind::data, parse_link(word, link) == '-', where,
             ": expected links like 0-1, found ", word);
    alignment.push_back(link);
  }
  return alignment;
}

ReferenceAlignment parse_reference_alignment(std::string_view line, std::string_view where) {
  ReferenceAlignment reference;
  for (const std::string_view word : split_words(line)) {
    AlignedWords link;
    const char kind = parse_link(word, link);
    check_as(ErrorKind::data, kind == '-' || kind == '?', where,
             ": expected links like 0-1 or 0?1, found '", word, "'");
    (kind == '-' ? reference.sure : reference.possible).push_back(link);
  }
  return reference;
}

}  // namespace heed::metrics
