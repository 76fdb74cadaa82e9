// Cross-attention of a decoder, from the position that predicts a word of the translation to every
// word of the source.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/models/translation_model.h"
#include "heed/text/tokenizer.h"

namespace heed::infer {

struct WordAttention {
  std::vector<std::string> words;           // of the source, punctuation apart; the last is its end
  std::vector<std::string> heads;           // "2.1": the first head of the second layer
  std::vector<std::vector<float>> weights;  // [word][head]; each head's column sums to 1
};

// All decoder layers, teacher-forced with `target`: the row that predicts the first piece of
// `word`, with the pieces of a source word together. Case of ASCII letters does not matter. Refuses
// a target without the word.
WordAttention attention_predicting(const models::TranslationModel& model,
                                   const text::Tokenizer& tokenizer, const std::string& source,
                                   const std::string& target, std::string_view word);

// For each head: has `word` the largest weight of all words?
std::vector<bool> maxima_on(const WordAttention& attention, std::string_view word);

struct MeasuredHead {
  std::size_t head = 0;  // place in WordAttention::heads
  double share = 0;      // of the second half of the sentences
};
// hits [sentence][head]: the head with the most hits in the first half of the sentences, and its
// share of hits in the second half, which had no say in the choice. Needs two sentences.
MeasuredHead measure_best_head(const std::vector<std::vector<bool>>& hits);

}  // namespace heed::infer
