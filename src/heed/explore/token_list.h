// Tokens as people read them: pieces, and the words that they belong to.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "heed/base/index.h"
#include "heed/text/tokenizer.h"

namespace heed::explore {

struct TokenList {
  std::vector<int> ids;
  std::vector<std::string> pieces;      // as SentencePiece writes them
  std::vector<std::string> texts;       // without the mark of a space
  std::vector<Index> words;             // the number of each piece's word
  std::vector<std::string> word_texts;  // of each word
  std::vector<bool> is_special;         // begin, end, pad and the like, each a word of its own
};

TokenList token_list(std::span<const int> ids, const text::Tokenizer& tokenizer);

// Calls the words what they are called in the text: a tokenizer gives letters that it does not know
// back as a sign. Does nothing where the text has another number of words than the list, special
// ones not counted.
void name_words(TokenList& tokens, const std::string& text);

nlohmann::ordered_json to_json(const TokenList& tokens);

// The text with word number `word` of its token list, special ones not counted, replaced. Refuses
// (ErrorKind::usage) a word that the text does not have.
std::string with_word_replaced(const std::string& text, Index word, const std::string& replacement);

}  // namespace heed::explore
