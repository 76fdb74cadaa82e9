// What one word of a sentence attends to, word by word.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "heed/models/translation_model.h"
#include "heed/text/tokenizer.h"

namespace heed::cli {

struct WordAttention {
  std::vector<std::string> words;           // of the sentence; the last is the end of the sentence
  std::vector<std::string> heads;           // "2.1": the first head of the second layer
  std::vector<std::vector<float>> weights;  // [word][head]; each head's column sums to 1
};

// The self-attention of all encoder layers, from `word` (its last piece) to every word (all of its
// pieces together). Refuses a sentence without the word.
WordAttention encoder_attention_from(const models::TranslationModel& model,
                                     const text::Tokenizer& tokenizer, const std::string& sentence,
                                     std::string_view word);

// One line for each word, one column for each head.
void print_table(std::ostream& out, const WordAttention& attention);

}  // namespace heed::cli
