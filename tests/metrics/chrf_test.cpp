#include "heed/metrics/chrf.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/text/lines.h"
#include "support/paths.h"

namespace heed::metrics {
namespace {

using Lines = std::vector<std::string>;

Lines read_data(const std::string& name) {
  return text::read_lines(std::filesystem::path(golden_folder) / name);
}

TEST(Chrf, EqualsTheGoldenValues) {
  const Lines hypotheses = read_data("evaluate_hypotheses.txt");
  const Lines references = read_data("evaluate_references.txt");
  ASSERT_EQ(references.size(), 16u);
  const auto golden =
      nlohmann::json::parse(std::ifstream(std::string(golden_folder) + "/evaluate_golden.json"));
  for (const auto& expected : golden) {
    EXPECT_NEAR(corpus_chrf(hypotheses, references, {.lowercase = expected["lowercase"]}),
                expected["chrf"], 1e-6);
  }
}

TEST(Chrf, LeavesSpacesAndTooLongOrdersOut) {
  EXPECT_NEAR(corpus_chrf(Lines{"a b c"}, Lines{"abc"}), 100, 1e-9);
  EXPECT_NEAR(corpus_chrf(Lines{"a"}, Lines{"a"}), 100, 1e-9);
  // Half of the characters, none of the pairs.
  EXPECT_NEAR(corpus_chrf(Lines{"aa"}, Lines{"ab"}), 25, 1e-9);
}

TEST(Chrf, CountsRecallTwiceAsMuchAsPrecision) {
  // Precision 1 and recall 1/2 for single characters; the reference alone has pairs.
  EXPECT_NEAR(corpus_chrf(Lines{"a"}, Lines{"ab"}), 100 * 5 * 0.5 / (4 + 0.5), 1e-9);
  // Precision 1/2, recall 1.
  EXPECT_NEAR(corpus_chrf(Lines{"ab"}, Lines{"a"}), 100 * 5 * 0.5 / (2 + 1), 1e-9);
}

// The pair "xy" has no partner of its order in the first line, so it does not count against it.
TEST(Chrf, IgnoresOrdersThatALinesReferenceIsTooShortFor) {
  EXPECT_NEAR(corpus_chrf(Lines{"xy", "ab"}, Lines{"", "ab"}), 100, 1e-9);
  EXPECT_NEAR(corpus_chrf(Lines{"", "ab"}, Lines{"ab", "ab"}), 100 * 5 * 0.5 / (4 + 0.5), 1e-9);
}

TEST(Chrf, IsZeroWithoutMatchesAndWithoutText) {
  EXPECT_EQ(corpus_chrf(Lines{"abc"}, Lines{"xyz"}), 0);
  EXPECT_EQ(corpus_chrf(Lines{""}, Lines{"xyz"}), 0);
  EXPECT_EQ(corpus_chrf(Lines{""}, Lines{""}), 0);
  EXPECT_EQ(corpus_chrf(Lines{}, Lines{}), 0);
}

TEST(Chrf, HasSacrebleusSignature) {
  EXPECT_EQ(chrf_signature({}), "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.3.1-heed");
  EXPECT_EQ(chrf_signature({.lowercase = true}),
            "nrefs:1|case:lc|eff:yes|nc:6|nw:0|space:no|version:2.3.1-heed");
}

TEST(Chrf, RefusesDifferentCounts) {
  EXPECT_THROW(corpus_chrf(Lines{"a", "b"}, Lines{"a"}), Error);
}

}  // namespace
}  // namespace heed::metrics
