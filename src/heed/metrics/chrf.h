// chrF of a corpus: F-score over character n-grams (Popovic, 2015), in the form of sacreBLEU.
#pragma once

#include <span>
#include <string>

namespace heed::metrics {

struct ChrfOptions {
  bool lowercase = false;
};

// chrF2: n-grams of 1 to 6 characters, spaces left out, no words, recall twice as important as
// precision. 0 to 100; equals sacreBLEU 2.3.1. Refuses different counts.
double corpus_chrf(std::span<const std::string> hypotheses, std::span<const std::string> references,
                   const ChrfOptions& options = {});

// sacreBLEU's record of how a score was computed; see bleu_signature.
std::string chrf_signature(const ChrfOptions& options);

}  // namespace heed::metrics
