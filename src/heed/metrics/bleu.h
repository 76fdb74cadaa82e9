// BLEU of a corpus: Papineni and others, 2002, in the form that sacreBLEU (Post, 2018) fixed.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "heed/base/choices.h"

namespace heed::metrics {

enum class BleuTokenizer {
  mteval_13a,     // "13a": punctuation of Western languages, as in the WMT evaluations
  none,           // "none": words are separated by spaces
  international,  // "intl": all punctuation and symbols of Unicode
  character,      // "char": every character is a word
};

struct BleuOptions {
  BleuTokenizer tokenizer = BleuTokenizer::mteval_13a;
  bool lowercase = false;
};

struct BleuScore {
  double score = 0;                    // 0 to 100
  std::array<double, 4> precisions{};  // of 1-grams to 4-grams, in percent, after smoothing
  double brevity_penalty = 1;          // 0 to 1
  std::int64_t hypothesis_length = 0;  // in words
  std::int64_t reference_length = 0;

  // Of the hypotheses' length to the references'.
  double ratio() const;
};

// One reference for each hypothesis; exponential smoothing. Equals sacreBLEU 2.3.1.
// Refuses different counts.
BleuScore corpus_bleu(std::span<const std::string> hypotheses,
                      std::span<const std::string> references, const BleuOptions& options = {});

// sacreBLEU's record of how a score was computed. Its version field names the version that ours
// equals, and that it was ours: "version:2.3.1-heed".
std::string bleu_signature(const BleuOptions& options);

}  // namespace heed::metrics

namespace heed {
template <>
std::span<const Choice<metrics::BleuTokenizer>> choices();  // 13a, none, intl, char
}  // namespace heed
