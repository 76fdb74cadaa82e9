// The words of a tokenized text, as white space separates them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/base/index.h"
#include "heed/text/tokenizer.h"

namespace heed::text {

// The number of the word that each piece belongs to, from 0; white space goes with the word after
// it.
std::vector<Index> words_of_pieces(std::span<const int> ids, const Tokenizer& tokenizer);

// The words that have a piece.
struct Words {
  std::vector<std::string> texts;    // without white space around, unless there is nothing else
  std::vector<Index> word_of_piece;  // places in `texts`
};
Words words_of(std::span<const int> ids, const Tokenizer& tokenizer);

}  // namespace heed::text
