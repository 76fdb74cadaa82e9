#include "heed/text/text_pattern.h"

#include <algorithm>
#include <optional>

#include "heed/base/error.h"
#include "heed/base/printable.h"
#include "heed/base/utf8.h"

namespace heed::text {
namespace {

std::vector<ByteRange> find_all(const std::string& wanted, std::string_view text) {
  std::vector<ByteRange> matches;
  for (std::size_t at = 0; (at = text.find(wanted, at)) != text.npos; at += wanted.size()) {
    matches.push_back({at, at + wanted.size()});
  }
  return matches;
}

std::vector<ByteRange> find_all(const Regex& wanted, std::string_view text) {
  std::vector<ByteRange> matches;
  for (std::size_t at = 0; at <= text.size();) {
    const std::optional<ByteRange> match = wanted.search(text, at);
    if (!match) break;
    const bool is_empty = match->begin == match->end;
    if (is_empty && !matches.empty() && matches.back().end == match->end) {
      at += at < text.size() ? utf8_length(text[at]) : 1;
      continue;
    }
    matches.push_back(*match);
    at = match->end;
  }
  return matches;
}

}  // namespace

TextPattern TextPattern::read(const io::JsonFields& fields) {
  const io::JsonFields pattern = fields.object("pattern");
  if (pattern.has("String")) {
    const std::string text = pattern.text("String");
    if (!text.empty()) return TextPattern(text);
    return TextPattern(Regex("", pattern.place("String")));  // matches between all characters
  }
  return TextPattern(Regex(pattern.text("Regex"), pattern.place("Regex")));
}

std::vector<ByteRange> TextPattern::find_all(std::string_view text) const {
  return std::visit([&](const auto& wanted) { return text::find_all(wanted, text); }, pattern_);
}

std::string read_replacement(const io::JsonFields& fields, const TextPattern& pattern) {
  std::string content = fields.text("content");
  check_as(ErrorKind::model, !pattern.is_regex() || content.find('$') == content.npos,
           fields.place("content"),
           ": expected a text without references to groups of the expression, found ",
           excerpt(content));
  return content;
}

std::vector<TextPart> parts_of(const std::vector<ByteRange>& matches, std::size_t text_size) {
  std::vector<TextPart> parts;
  parts.reserve(2 * matches.size() + 1);
  std::size_t end = 0;
  for (const ByteRange& match : matches) {
    if (match.begin > end) parts.push_back({{end, match.begin}, false});
    parts.push_back({match, true});
    end = match.end;
  }
  if (end < text_size) parts.push_back({{end, text_size}, false});
  return parts;
}

}  // namespace heed::text
