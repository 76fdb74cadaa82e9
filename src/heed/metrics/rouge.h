// ROUGE of summaries: Lin, 2004, in the form of the Python package rouge-score.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/metrics/precision_recall.h"

namespace heed::metrics {

struct RougeOptions {
  bool stem = false;  // words of four and more letters are replaced by their Porter stems
};

// From 0 to 1. Words are runs of the letters a-z and digits, in lower case; all else separates
// them.
struct RougeScores {
  PrecisionRecall rouge_1;  // words in common
  PrecisionRecall rouge_2;  // pairs of words in common
  PrecisionRecall rouge_l;  // the longest common subsequence (LCS)
  PrecisionRecall
      rouge_lsum;  // the union of the LCS of every two lines; equals rouge_l for one line
};

// Equals rouge-score 0.1.2, whose arguments are the other way round. The time for the LCS grows
// with the product of the lengths.
RougeScores rouge(const std::string& hypothesis, const std::string& reference,
                  const RougeOptions& options = {});
// Each of the four by the reference with the best F1. Refuses no references.
RougeScores rouge(const std::string& hypothesis, std::span<const std::string> references,
                  const RougeOptions& options = {});

// Means over the hypotheses; 0 without any. Refuses different counts.
RougeScores corpus_rouge(std::span<const std::string> hypotheses,
                         std::span<const std::string> references, const RougeOptions& options = {});
// With several references for each hypothesis.
RougeScores corpus_rouge(std::span<const std::string> hypotheses,
                         std::span<const std::vector<std::string>> references,
                         const RougeOptions& options = {});

// How a score was computed, in the manner of bleu_signature: "nrefs:1|stem:no|agg:mean|...".
std::string rouge_signature(const RougeOptions& options);

}  // namespace heed::metrics
