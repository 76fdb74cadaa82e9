#include "heed/metrics/chrf.h"

#include <array>
#include <cstdint>
#include <vector>

#include "heed/base/error.h"
#include "heed/metrics/ngrams.h"
#include "heed/metrics/sacrebleu_version.h"
#include "heed/metrics/unicode.h"

namespace heed::metrics {
namespace {

constexpr int max_order = 6;
constexpr double beta = 2;

std::vector<std::uint32_t> characters_of(const std::string& line, const ChrfOptions& options) {
  const std::u32string text = decode_utf8(options.lowercase ? lower_case(line) : line);
  std::vector<std::uint32_t> characters;
  characters.reserve(text.size());
  for (const char32_t c : text) {
    if (!is_space(c)) characters.push_back(c);
  }
  return characters;
}

// F-score of the precision and the recall, each averaged over the orders that both sides have.
double f_score(const std::array<NgramCounts, max_order>& totals) {
  double precision = 0, recall = 0;
  int num_orders = 0;
  for (const NgramCounts& total : totals) {
    if (total.hypothesis == 0 || total.reference == 0) continue;
    precision += static_cast<double>(total.matched) / static_cast<double>(total.hypothesis);
    recall += static_cast<double>(total.matched) / static_cast<double>(total.reference);
    ++num_orders;
  }
  if (precision + recall == 0) return 0;
  precision /= num_orders;
  recall /= num_orders;
  return (1 + beta * beta) * precision * recall / (beta * beta * precision + recall);
}

}  // namespace

double corpus_chrf(std::span<const std::string> hypotheses, std::span<const std::string> references,
                   const ChrfOptions& options) {
  check(hypotheses.size() == references.size(), "chrF: expected one reference for each of ",
        hypotheses.size(), " hypotheses, got ", references.size());
  std::array<NgramCounts, max_order> totals{};
  NgramMatcher matcher(max_order);
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    const auto counts =
        matcher.match(characters_of(hypotheses[i], options), characters_of(references[i], options));
    for (std::size_t n = 0; n < max_order; ++n) {
      // A line whose reference is too short for this order says nothing about it.
      if (counts[n].reference == 0) continue;
      totals[n].hypothesis += counts[n].hypothesis;
      totals[n].reference += counts[n].reference;
      totals[n].matched += counts[n].matched;
    }
  }
  return 100 * f_score(totals);
}

std::string chrf_signature(const ChrfOptions& options) {
  return std::string("nrefs:1|case:") + (options.lowercase ? "lc" : "mixed") +
         "|eff:yes|nc:6|nw:0|space:no|version:" + sacrebleu_version;
}

}  // namespace heed::metrics
