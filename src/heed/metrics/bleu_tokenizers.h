// The tokenizers of BLEU, as in sacreBLEU.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/choices.h"

namespace heed::metrics {

enum class BleuTokenizer {
  mteval_13a,     // "13a": punctuation of Western languages, as in the WMT evaluations
  none,           // "none": words are separated by spaces
  international,  // "intl": all punctuation and symbols of Unicode
  character,      // "char": every character is a word
};

// The words of one line of UTF-8 text. Space at its end never matters.
std::vector<std::string> tokenize_for_bleu(std::string_view line, BleuTokenizer tokenizer);

}  // namespace heed::metrics

namespace heed {
template <>
std::span<const Choice<metrics::BleuTokenizer>> choices();  // 13a, none, intl, char
}  // namespace heed
