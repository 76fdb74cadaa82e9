// Self-attention of an encoder, from one word of a sentence to every word.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/models/translation_model.h"
#include "heed/text/tokenizer.h"

namespace heed::infer {

struct WordAttention {
  std::vector<std::string> words;           // of the sentence; the last is the end of the sentence
  std::vector<std::string> heads;           // "2.1": the first head of the second layer
  std::vector<std::vector<float>> weights;  // [word][head]; each head's column sums to 1
};

// All encoder layers, from `word` (its last piece) to every word (all of its pieces together).
// Refuses a sentence without the word.
WordAttention encoder_attention_from(const models::TranslationModel& model,
                                     const text::Tokenizer& tokenizer, const std::string& sentence,
                                     std::string_view word);

}  // namespace heed::infer
