// Text that comes as words, as tagged text does, to tokens: which tokens are whose is known.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/index.h"
#include "heed/text/tokenizer.h"

namespace heed::text {

// The words of a line, between white space.
std::vector<std::string> split_words(std::string_view line);

// The words with a space between each two, as split_words reads them.
std::string join_words(std::span<const std::string> words);

struct EncodedWords {
  // In the template of the tokenizer: of Heed's own, the end token is the last. None of a line
  // without words.
  std::vector<int> ids;
  std::vector<Index> first_token;  // the place in `ids` of the first token of each word
};

// Every word is encoded alone, so that it has the same tokens on any line. They are those of the
// joined line, as far as no token of the tokenizer reaches over a space. A word that has none is
// the unknown token.
EncodedWords encode_words(std::span<const std::string> words, const Tokenizer& tokenizer);

// Of many lines, by all threads. Does not depend on the number of threads.
std::vector<EncodedWords> encode_words(std::span<const std::vector<std::string>> lines,
                                       const Tokenizer& tokenizer);

}  // namespace heed::text
