// Patterns that texts are searched for: a string or a regular expression.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "heed/io/json_fields.h"
#include "heed/text/regex.h"

namespace heed::text {

// A part of a text, which a pattern matches or not.
struct TextPart {
  ByteRange range;
  bool is_match = false;
};

class TextPattern {
 public:
  explicit TextPattern(std::variant<std::string, Regex> pattern) : pattern_(std::move(pattern)) {}
  // The field `pattern`: {"String": "..."} or {"Regex": "..."}.
  static TextPattern read(const io::JsonFields& fields);

  bool is_regex() const { return std::holds_alternative<Regex>(pattern_); }
  // All matches that do not overlap, in order. An empty match moves on by one character, and does
  // not follow another match directly.
  std::vector<ByteRange> find_all(std::string_view text) const;

 private:
  std::variant<std::string, Regex> pattern_;
};

// The field `content`: what comes in the place of matches. Refuses (ErrorKind::model) references to
// groups of an expression.
std::string read_replacement(const io::JsonFields& fields, const TextPattern& pattern);

// The matches and what is between them: the whole text.
std::vector<TextPart> parts_of(const std::vector<ByteRange>& matches, std::size_t text_size);

}  // namespace heed::text
