#include "heed/text/added_tokens.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/printable.h"
#include "heed/base/utf8.h"
#include "heed/text/code_points.h"
#include "heed/text/unicode_classes.h"

namespace heed::text {
namespace {

constexpr std::size_t max_content_bytes = 1 << 10;

// Where the character begins that ends at `end`.
std::size_t last_character(std::string_view text, std::size_t end) {
  std::size_t begin = end - 1;
  while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xc0) == 0x80) --begin;
  return begin;
}

bool is_word_before(std::string_view text, std::size_t end) {
  if (end == 0) return false;
  std::size_t at = last_character(text, end);
  return is_word_character(next_code_point(text, at));
}

bool is_word_after(std::string_view text, std::size_t begin) {
  return begin < text.size() && is_word_character(next_code_point(text, begin));
}

bool is_single_word(std::string_view text, ByteRange range) {
  return !is_word_before(text, range.begin) && !is_word_after(text, range.end);
}

// Where the spaces begin that end at `end`.
std::size_t spaces_before(std::string_view text, std::size_t end) {
  while (end > 0) {
    std::size_t at = last_character(text, end);
    const std::size_t begin = at;
    if (!is_white_space(next_code_point(text, at))) break;
    end = begin;
  }
  return end;
}

// Where the spaces end that begin at `begin`.
std::size_t spaces_after(std::string_view text, std::size_t begin) {
  while (begin < text.size()) {
    std::size_t at = begin;
    if (!is_white_space(next_code_point(text, at))) break;
    begin = at;
  }
  return begin;
}

}  // namespace

AddedToken read_added_token(const io::JsonFields& fields) {
  AddedToken token{.content = fields.text("content"),
                   .is_single_word = fields.boolean_or("single_word", false),
                   .strips_left = fields.boolean_or("lstrip", false),
                   .strips_right = fields.boolean_or("rstrip", false),
                   .is_special = fields.boolean_or("special", false)};
  token.is_normalized = fields.boolean_or("normalized", !token.is_special);
  check_as(ErrorKind::model, token.content.size() <= max_content_bytes, fields.place("content"),
           ": expected at most ", max_content_bytes, " bytes, found ", token.content.size());
  return token;
}

// The id in the file counts for nothing, as in the library: a token has its id in the vocabulary,
// or the next one after all others.
AddedTokens::AddedTokens(const io::JsonFields& fields, const Vocabulary& vocabulary,
                         const Normalizer& normalizer) {
  for (const io::JsonFields& entry : fields.optional_objects("added_tokens")) {
    AddedToken token = read_added_token(entry);
    if (token.content.empty()) continue;
    const int next = std::max(num_ids(), static_cast<int>(vocabulary.size()));
    token.id = vocabulary.find(token.content).value_or(next);
    add(std::move(token), entry.place("content"));
  }
  build_tries(normalizer);
}

AddedTokens::AddedTokens(std::vector<AddedToken> tokens, const std::string& place) {
  for (AddedToken& token : tokens) {
    check_as(ErrorKind::model, find(token.id) == nullptr, place, ": expected each id once, found ",
             token.id, " again");
    add(std::move(token), place);
  }
  build_tries({});
}

void AddedTokens::add(AddedToken token, const std::string& place) {
  check_as(ErrorKind::model, !names_.find(token.content), place,
           ": expected each token once, found \"", excerpt(token.content), "\" again");
  check_as(ErrorKind::model, token.id >= 0 && token.id < Vocabulary::max_ids, place,
           ": expected ids below ", Vocabulary::max_ids, ", found ", token.id);
  names_.add(token.content, token.id);
  places_.emplace(token.id, tokens_.size());
  tokens_.push_back(std::move(token));
}

// Special ones come first: of two that look the same in a normalised text, the first one counts.
void AddedTokens::build_tries(const Normalizer& normalizer) {
  for (const bool is_special : {true, false}) {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const AddedToken& token = tokens_[i];
      if (token.is_special != is_special) continue;
      AlignedText content = align(token.content);
      if (token.is_normalized && normalizer) normalizer(content);
      PieceTrie& trie = token.is_normalized ? in_normalized_text_ : in_text_;
      trie.add(content.bytes, static_cast<int>(i));
    }
  }
}

// Leftmost, then longest.
std::vector<AddedTokens::Part> AddedTokens::find_parts(std::string_view text,
                                                       const PieceTrie& tokens) const {
  std::vector<Part> parts;
  std::size_t end = 0;  // of the last part
  for (std::size_t at = 0; at < text.size();) {
    const auto match = tokens.find_longest(text.substr(at));
    if (!match) {
      ++at;
      continue;
    }
    ByteRange range{at, at + match->size};
    at = range.end;
    const AddedToken& token = tokens_[static_cast<std::size_t>(match->value)];
    if (token.is_single_word && !is_single_word(text, range)) continue;
    if (token.strips_left) range.begin = std::max(spaces_before(text, range.begin), end);
    if (token.strips_right) range.end = spaces_after(text, range.end);
    if (range.begin > end) parts.push_back({{end, range.begin}});
    parts.push_back({range, &token});
    end = range.end;
  }
  if (end < text.size()) parts.push_back({{end, text.size()}});
  return parts;
}

TextPieces AddedTokens::split(std::string_view text, const Normalizer& normalizer) const {
  TextPieces pieces;
  const AlignedText original = align(text);
  for (const Part& part : find_parts(text, in_text_)) {
    if (part.token != nullptr) {
      pieces.append(original, part.range, part.token->id);
      continue;
    }
    AlignedText section = original.part(part.range.begin, part.range.end);
    if (normalizer) normalizer(section);
    for (const Part& inner : find_parts(section.bytes, in_normalized_text_)) {
      pieces.append(section, inner.range,
                    inner.token ? std::optional(inner.token->id) : std::nullopt);
    }
  }
  return pieces;
}

const AddedToken* AddedTokens::find(int id) const {
  const auto place = places_.find(id);
  return place == places_.end() ? nullptr : &tokens_[place->second];
}

}  // namespace heed::text
