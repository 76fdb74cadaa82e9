#include "heed/metrics/bleu.h"

#include <gtest/gtest.h>

#include <cmath>
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

// The expected values come from a separate program, which itself gives the scores that
// sacreBLEU's own tests expect.
TEST(Bleu, EqualsTheGoldenValuesForEveryTokenizer) {
  const Lines hypotheses = read_data("evaluate_hypotheses.txt");
  const Lines references = read_data("evaluate_references.txt");
  ASSERT_EQ(references.size(), 16u);
  const auto golden =
      nlohmann::json::parse(std::ifstream(std::string(golden_folder) + "/evaluate_golden.json"));
  ASSERT_EQ(golden.size(), 8u);
  for (const auto& expected : golden) {
    SCOPED_TRACE(expected.dump());
    const BleuOptions options{.tokenizer = parse_choice<BleuTokenizer>(
                                  expected["tokenize"].get<std::string>(), "tokenizer"),
                              .lowercase = expected["lowercase"]};
    const BleuScore bleu = corpus_bleu(hypotheses, references, options);
    EXPECT_NEAR(bleu.score, expected["bleu"], 1e-6);
    for (std::size_t n = 0; n < 4; ++n) {
      EXPECT_NEAR(bleu.precisions[n], expected["precisions"][n], 1e-6);
    }
    EXPECT_NEAR(bleu.brevity_penalty, expected["brevity_penalty"], 1e-6);
    EXPECT_EQ(bleu.hypothesis_length, expected["hypothesis_length"]);
    EXPECT_EQ(bleu.reference_length, expected["reference_length"]);
  }
}

TEST(Bleu, OfEqualTextsIsAHundred) {
  const Lines lines = {"the cat sat on the mat", "a bat lives in the cave"};
  const BleuScore bleu = corpus_bleu(lines, lines);
  EXPECT_NEAR(bleu.score, 100, 1e-9);
  EXPECT_EQ(bleu.brevity_penalty, 1);
  EXPECT_EQ(bleu.ratio(), 1);
}

// Matches 3/4, 2/3, 1/2 and none of 1, which counts as half of one.
TEST(Bleu, HalvesAnOrderWithoutMatches) {
  const BleuScore bleu = corpus_bleu(Lines{"this is a fest"}, Lines{"this is a test"});
  EXPECT_NEAR(bleu.precisions[3], 50, 1e-9);
  EXPECT_NEAR(bleu.score, 100 * std::pow(0.75 * 2 / 3 * 0.5 * 0.5, 0.25), 1e-9);

  // Matches 2/4, then none of 3, 2 and 1: a half, a quarter, an eighth.
  const BleuScore twice = corpus_bleu(Lines{"b x a y"}, Lines{"a z b q"});
  EXPECT_NEAR(twice.precisions[1], 100 * 0.5 / 3, 1e-9);
  EXPECT_NEAR(twice.precisions[2], 100 * 0.25 / 2, 1e-9);
  EXPECT_NEAR(twice.precisions[3], 100 * 0.125, 1e-9);
}

TEST(Bleu, PunishesShortHypothesesOnly) {
  const BleuScore shorter = corpus_bleu(Lines{"a b c d"}, Lines{"a b c d e f"});
  EXPECT_NEAR(shorter.brevity_penalty, std::exp(1 - 6.0 / 4), 1e-12);
  EXPECT_NEAR(shorter.score, 100 * std::exp(1 - 6.0 / 4), 1e-9);
  EXPECT_EQ(corpus_bleu(Lines{"a b c d e f"}, Lines{"a b c d"}).brevity_penalty, 1);
}

TEST(Bleu, IsZeroWithoutMatchesWithoutWordsAndWithoutFourgrams) {
  EXPECT_EQ(corpus_bleu(Lines{"a b c d"}, Lines{"e f g h"}).score, 0);
  EXPECT_EQ(corpus_bleu(Lines{"", ""}, Lines{"a b", "c"}).score, 0);
  EXPECT_EQ(corpus_bleu(Lines{""}, Lines{""}).score, 0);
  EXPECT_EQ(corpus_bleu(Lines{"a b c"}, Lines{"a b c"}).score, 0);
  EXPECT_EQ(corpus_bleu(Lines{}, Lines{}).score, 0);
}

TEST(Bleu, HasSacrebleusSignature) {
  EXPECT_EQ(bleu_signature({}), "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.3.1-heed");
  EXPECT_EQ(bleu_signature({.tokenizer = BleuTokenizer::international, .lowercase = true}),
            "nrefs:1|case:lc|eff:no|tok:intl|smooth:exp|version:2.3.1-heed");
}

TEST(Bleu, RefusesDifferentCounts) {
  EXPECT_THROW(corpus_bleu(Lines{"a", "b"}, Lines{"a"}), Error);
}

}  // namespace
}  // namespace heed::metrics
