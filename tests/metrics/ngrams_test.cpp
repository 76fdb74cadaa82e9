#include "heed/metrics/ngrams.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace heed::metrics {
namespace {

using Symbols = std::vector<std::uint32_t>;

// The definition: count both sides, and take the smaller count of each n-gram.
NgramCounts count_plainly(const Symbols& hypothesis, const Symbols& reference, std::size_t order) {
  const auto count = [order](const Symbols& symbols) {
    std::map<Symbols, std::int64_t> counts;
    for (std::size_t i = 0; i + order <= symbols.size(); ++i) {
      ++counts[Symbols(symbols.begin() + i, symbols.begin() + i + order)];
    }
    return counts;
  };
  auto in_hypothesis = count(hypothesis);
  auto in_reference = count(reference);
  NgramCounts result;
  for (const auto& [ngram, times] : in_reference) result.reference += times;
  for (const auto& [ngram, times] : in_hypothesis) {
    result.hypothesis += times;
    result.matched += std::min(times, in_reference[ngram]);
  }
  return result;
}

TEST(Ngrams, AreMatchedAsOftenAsTheReferenceHasThem) {
  NgramMatcher matcher(3);
  const auto counts = matcher.match(Symbols{1, 1, 1, 2, 3}, Symbols{1, 2, 3, 1});
  EXPECT_EQ(counts[0].hypothesis, 5);
  EXPECT_EQ(counts[0].reference, 4);
  EXPECT_EQ(counts[0].matched, 4);  // 1 1 2 3
  EXPECT_EQ(counts[1].matched, 2);  // 12 23
  EXPECT_EQ(counts[2].hypothesis, 3);
  EXPECT_EQ(counts[2].matched, 1);  // 123
}

TEST(Ngrams, AreNoneInSequencesThatAreTooShort) {
  NgramMatcher matcher(2);
  const auto counts = matcher.match(Symbols{7}, Symbols{});
  EXPECT_EQ(counts[0].hypothesis, 1);
  EXPECT_EQ(counts[0].reference, 0);
  EXPECT_EQ(counts[1].hypothesis, 0);
  EXPECT_EQ(counts[0].matched + counts[1].matched, 0);
}

TEST(Ngrams, AgreeWithPlainCountingOnRandomSequences) {
  std::mt19937 random(1);
  const auto below = [&random](unsigned bound) { return static_cast<unsigned>(random() % bound); };
  NgramMatcher matcher(6);
  for (int trial = 0; trial < 300; ++trial) {
    Symbols hypothesis(below(40)), reference(below(40));
    const unsigned alphabet = 1 + below(5);
    for (auto& symbol : hypothesis) symbol = below(alphabet) * 0x80000001u;
    for (auto& symbol : reference) symbol = below(alphabet) * 0x80000001u;
    const auto counts = matcher.match(hypothesis, reference);
    for (std::size_t order = 1; order <= 6; ++order) {
      const NgramCounts expected = count_plainly(hypothesis, reference, order);
      ASSERT_EQ(counts[order - 1].hypothesis, expected.hypothesis);
      ASSERT_EQ(counts[order - 1].reference, expected.reference);
      ASSERT_EQ(counts[order - 1].matched, expected.matched);
    }
  }
}

}  // namespace
}  // namespace heed::metrics
