#include "heed/metrics/bleu.h"

#include <cmath>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/metrics/bleu_tokenizers.h"
#include "heed/metrics/ngrams.h"
#include "heed/metrics/sacrebleu_version.h"
#include "heed/metrics/unicode.h"
#include "heed/metrics/word_numbers.h"

namespace heed::metrics {
namespace {

constexpr int max_order = 4;

std::vector<std::string> words_of(const std::string& line, const BleuOptions& options) {
  return tokenize_for_bleu(options.lowercase ? lower_case(line) : line, options.tokenizer);
}

// Percent of the n-grams that match. The first order without any match counts as half a match, the
// next as a quarter of one, and so on: smoothing method 3 of Chen and Cherry, 2014.
std::array<double, max_order> smoothed_precisions(
    const std::array<NgramCounts, max_order>& counts) {
  std::array<double, max_order> precisions{};
  bool has_match = false;
  for (const NgramCounts& count : counts) has_match = has_match || count.matched > 0;
  if (!has_match) return precisions;

  double halvings = 1;
  for (std::size_t n = 0; n < counts.size() && counts[n].hypothesis > 0; ++n) {
    double matched = static_cast<double>(counts[n].matched);
    if (counts[n].matched == 0) matched = 1 / (halvings *= 2);
    precisions[n] = 100 * matched / static_cast<double>(counts[n].hypothesis);
  }
  return precisions;
}

double geometric_mean(const std::array<double, max_order>& precisions) {
  double sum_of_logs = 0;
  for (const double precision : precisions) {
    if (precision == 0) return 0;
    sum_of_logs += std::log(precision);
  }
  return std::exp(sum_of_logs / max_order);
}

double brevity_penalty(std::int64_t hypothesis_length, std::int64_t reference_length) {
  if (hypothesis_length >= reference_length) return 1;
  if (hypothesis_length == 0) return 0;
  return std::exp(1 -
                  static_cast<double>(reference_length) / static_cast<double>(hypothesis_length));
}

}  // namespace

double BleuScore::ratio() const {
  if (reference_length == 0) return 0;
  return static_cast<double>(hypothesis_length) / static_cast<double>(reference_length);
}

BleuScore corpus_bleu(std::span<const std::string> hypotheses,
                      std::span<const std::string> references, const BleuOptions& options) {
  check(hypotheses.size() == references.size(), "BLEU: expected one reference for each of ",
        hypotheses.size(), " hypotheses, got ", references.size());
  BleuScore result;
  std::array<NgramCounts, max_order> totals{};
  WordNumbers numbers;
  NgramMatcher matcher(max_order);
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    const auto hypothesis = numbers.of(words_of(hypotheses[i], options));
    const auto reference = numbers.of(words_of(references[i], options));
    result.hypothesis_length += static_cast<std::int64_t>(hypothesis.size());
    result.reference_length += static_cast<std::int64_t>(reference.size());
    const auto counts = matcher.match(hypothesis, reference);
    for (std::size_t n = 0; n < max_order; ++n) {
      totals[n].hypothesis += counts[n].hypothesis;
      totals[n].matched += counts[n].matched;
    }
  }
  result.precisions = smoothed_precisions(totals);
  result.brevity_penalty = brevity_penalty(result.hypothesis_length, result.reference_length);
  result.score = result.brevity_penalty * geometric_mean(result.precisions);
  return result;
}

std::string bleu_signature(const BleuOptions& options) {
  return std::string("nrefs:1|case:") + (options.lowercase ? "lc" : "mixed") +
         "|eff:no|tok:" + std::string(name_of(options.tokenizer)) +
         "|smooth:exp|version:" + sacrebleu_version;
}

}  // namespace heed::metrics
