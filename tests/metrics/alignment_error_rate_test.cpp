#include "heed/metrics/alignment_error_rate.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"

namespace heed::metrics {
namespace {

using Links = std::vector<AlignedWords>;

AlignmentErrorRate rate(const Links& found, const std::string& reference) {
  AlignmentErrorRate rate;
  rate.add(found, parse_reference_alignment(reference, "test"));
  return rate;
}

TEST(AlignmentErrorRate, IsZeroWhenAllSureLinksAreFoundAndNoneIsWrong) {
  EXPECT_EQ(rate({{0, 0}, {1, 2}}, "0-0 1-2").value(), 0);
  // Possible links may be found, or left out.
  EXPECT_EQ(rate({{0, 0}, {1, 2}}, "0-0 1-2 3?3").value(), 0);
  EXPECT_EQ(rate({{0, 0}, {3, 3}}, "0-0 3?3").value(), 0);
}

TEST(AlignmentErrorRate, IsOneWhenNothingIsRight) {
  EXPECT_EQ(rate({{0, 1}}, "0-0").value(), 1);
  EXPECT_EQ(rate({}, "0-0").value(), 1);
}

TEST(AlignmentErrorRate, CountsAsOchAndNeyDo) {
  // A has 4 links: 2 sure, 1 possible, 1 wrong. S has 3.
  const AlignmentErrorRate found = rate({{0, 0}, {1, 1}, {2, 3}, {4, 4}}, "0-0 1-1 2-2 2?3");
  EXPECT_DOUBLE_EQ(found.precision(), 3.0 / 4);
  EXPECT_DOUBLE_EQ(found.recall(), 2.0 / 3);
  EXPECT_DOUBLE_EQ(found.value(), 1 - (2.0 + 3.0) / (4 + 3));
}

TEST(AlignmentErrorRate, CountsALinkOnce) {
  EXPECT_DOUBLE_EQ(rate({{0, 0}, {0, 0}}, "0-0 0-0 0?0 1-1").value(), 1 - 2.0 / 3);
}

TEST(AlignmentErrorRate, AddsUpLinksNotSentences) {
  AlignmentErrorRate both;
  both.add(Links{{0, 0}}, {.sure = {{0, 0}}, .possible = {}});
  both.add(Links{{0, 0}, {1, 1}, {2, 2}}, {.sure = {{5, 5}}, .possible = {}});
  EXPECT_DOUBLE_EQ(both.value(), 1 - 2.0 / 6);
}

TEST(AlignmentErrorRate, HasNoErrorsWhereThereAreNoLinks) {
  EXPECT_EQ(rate({}, "").value(), 0);
  EXPECT_EQ(rate({}, "0?1").value(), 0);
}

}  // namespace
}  // namespace heed::metrics
