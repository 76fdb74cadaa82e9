#include "heed/text/words.h"

#include <algorithm>

#include "heed/base/utf8.h"
#include "heed/text/lines.h"

namespace heed::text {
namespace {

bool is_space(std::string_view character) {
  return character == " " || character == "\t" || character == "\u2581";
}

}  // namespace

std::vector<Index> words_of_pieces(std::span<const int> ids, const Tokenizer& tokenizer) {
  std::vector<Index> words;
  Index word = 0;                // the word that the next letter belongs to
  bool is_after_letter = false;  // so that white space ends a word
  for (const int id : ids) {
    const std::string piece = tokenizer.piece(id);
    for (std::size_t i = 0; i < piece.size(); i += utf8_length(piece[i])) {
      const bool space = is_space(std::string_view(piece).substr(i, utf8_length(piece[i])));
      if (space && is_after_letter) ++word;
      is_after_letter = !space;
    }
    words.push_back(word);
  }
  // White space at the very end started a word that has no letters.
  const Index last = is_after_letter ? word : std::max<Index>(word - 1, 0);
  for (Index& number : words) number = std::min(number, last);
  return words;
}

Words words_of(std::span<const int> ids, const Tokenizer& tokenizer) {
  const std::vector<Index> numbers = words_of_pieces(ids, tokenizer);
  Words words;
  for (std::size_t begin = 0, end = 0; begin < ids.size(); begin = end) {
    for (; end < ids.size() && numbers[end] == numbers[begin]; ++end) {
      words.word_of_piece.push_back(std::ssize(words.texts));
    }
    const std::string text = tokenizer.decode(ids.subspan(begin, end - begin));
    words.texts.emplace_back(is_blank(text) ? text : trim(text));
  }
  return words;
}

}  // namespace heed::text
