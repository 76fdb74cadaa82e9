#include "heed/text/word_piece.h"

#include "heed/text/code_points.h"

namespace heed::text {

WordPiece::WordPiece(const io::JsonFields& fields)
    : SubwordModel(Vocabulary::read(fields, "vocab")),
      unknown_(fields, vocabulary()),
      max_characters_(static_cast<std::size_t>(
          fields.integer_or("max_input_chars_per_word", 100, {.min = 0}))) {
  const std::string prefix = fields.text_or("continuing_subword_prefix", "##");
  for (int id = 0; id < vocabulary().num_ids(); ++id) {
    const std::optional<std::string_view> piece = vocabulary().piece(id);
    if (!piece) continue;
    first_.add(*piece, id);
    if (piece->starts_with(prefix)) continuing_.add(piece->substr(prefix.size()), id);
  }
}

void WordPiece::segment(std::string_view word, std::vector<WordPart>& parts) const {
  const std::size_t count = parts.size();
  if (count_code_points(word) <= max_characters_ && segment_known(word, parts)) return;
  parts.resize(count);
  parts.push_back({unknown_.id(), {0, word.size()}});
}

bool WordPiece::segment_known(std::string_view word, std::vector<WordPart>& parts) const {
  for (std::size_t at = 0; at < word.size();) {
    const auto match = (at == 0 ? first_ : continuing_).find_longest(word.substr(at));
    if (!match) return false;
    parts.push_back({match->value, {at, at + match->size}});
    at += match->size;
  }
  return true;
}

}  // namespace heed::text
