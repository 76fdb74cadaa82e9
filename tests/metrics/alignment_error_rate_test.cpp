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

TEST(AlignmentErrorRate, ReadsSureAndPossibleLinks) {
  const ReferenceAlignment reference = parse_reference_alignment(" 0-0 12-3\t1?2 ", "a.txt:1");
  EXPECT_EQ(reference.sure, (Links{{0, 0}, {12, 3}}));
  EXPECT_EQ(reference.possible, (Links{{1, 2}}));
}

TEST(AlignmentErrorRate, RefusesWhatIsNoLink) {
  for (const std::string word :
       {"0", "0-", "-1", "0:1", "a-1", "0-1x", "0--1", "0-1-2", "99999999999999999999-1"}) {
    try {
      parse_reference_alignment("0-0 " + word, "a.txt:3");
      ADD_FAILURE() << "no error: " << word;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::data);
      EXPECT_EQ(std::string(error.what()),
                "a.txt:3: expected links like 0-1 or 0?1, found '" + word + "'");
    }
  }
}

}  // namespace
}  // namespace heed::metrics
