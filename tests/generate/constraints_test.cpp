#include "heed/generate/constraints.h"

#include <gtest/gtest.h>

#include <cmath>

#include "generate/memorised_translator.h"
#include "io/expect_error.h"

namespace heed::generate {
namespace {

using Ids = std::vector<int>;

TEST(Constraints, WithoutAnyEverythingGoes) {
  const Constraints none;
  EXPECT_FALSE(none.has_forbidden());
  EXPECT_FALSE(none.has_required());
  EXPECT_TRUE(none.forbidden_after(Ids{4, 5}).empty());
  EXPECT_EQ(none.num_missing(Ids{}), 0);
}

TEST(Constraints, ForbidOnlyTheTokenThatWouldCompleteASequence) {
  const Constraints constraints({{7}, {4, 5, 6}, {4, 5, 4}, {5, 9}, {7}}, {});
  EXPECT_EQ(constraints.forbidden_after(Ids{}), (Ids{7}));
  EXPECT_EQ(constraints.forbidden_after(Ids{4}), (Ids{7}));
  EXPECT_EQ(constraints.forbidden_after(Ids{8, 4, 5}), (Ids{4, 6, 7, 9}));
  EXPECT_EQ(constraints.forbidden_after(Ids{4, 5, 8}), (Ids{7}));
}

TEST(Constraints, TakeTheLogitsOfForbiddenTokens) {
  const Constraints constraints({{1}, {2, 0}}, {});
  std::vector<float> logits{1, 2, 3};
  constraints.forbid(logits, Ids{2});
  EXPECT_EQ(logits, (std::vector<float>{-INFINITY, -INFINITY, 3}));
}

TEST(Constraints, CountWhatIsMissingAndWhatIsPlaced) {
  const Constraints constraints({}, {{4, 5}, {4, 5}, {5, 6, 5, 7}});
  EXPECT_EQ(constraints.num_missing(Ids{}), 2);
  EXPECT_EQ(constraints.num_missing(Ids{4, 8, 5}), 2);
  EXPECT_EQ(constraints.num_missing(Ids{8, 4, 5, 8}), 1);
  EXPECT_EQ(constraints.num_missing(Ids{4, 5, 6, 5, 7}), 0);
  EXPECT_EQ(constraints.num_placed(Ids{}), 0);
  EXPECT_EQ(constraints.num_placed(Ids{8, 4}), 1);
  EXPECT_EQ(constraints.num_placed(Ids{4, 5}), 2 + 1);
  EXPECT_EQ(constraints.num_placed(Ids{4, 5, 6, 5}), 2 + 3);
  EXPECT_EQ(constraints.num_placed(Ids{4, 5, 6, 6}), 2);
}

TEST(Constraints, WantTheBeginningOrTheNextTokenOfWhatIsMissing) {
  const Constraints constraints({}, {{4, 5}, {5, 6, 5, 7}});
  EXPECT_EQ(constraints.wanted_after(Ids{}), (Ids{4, 5}));
  EXPECT_EQ(constraints.wanted_after(Ids{4}), (Ids{5}));
  EXPECT_EQ(constraints.wanted_after(Ids{5, 6, 5}), (Ids{4, 7}));
  EXPECT_EQ(constraints.wanted_after(Ids{5, 6, 5, 6}), (Ids{4, 5}));  // 5 6 begins it once more
  EXPECT_TRUE(constraints.wanted_after(Ids{4, 5, 6, 5, 7}).empty());
}

TEST(Constraints, RefuseEmptySequencesAndWhatIsBothRequiredAndForbidden) {
  EXPECT_THROW(Constraints({{}}, {}), Error);
  EXPECT_THROW(Constraints({}, {{4}, {}}), Error);
  EXPECT_THROW(Constraints({{5, 6}}, {{4, 5, 6}}), Error);
  EXPECT_NO_THROW(Constraints({{4, 6}}, {{4, 5, 6}}));
}

TEST(Constraints, OfWordsAreTheTokensOfTheTokenizer) {
  const text::Tokenizer& tokenizer = word_by_word_model().tokenizer;
  const std::vector<std::string> none, eins{"eins"}, two{"zwei drei"};
  const Constraints constraints = Constraints::of_words(eins, two, tokenizer);
  EXPECT_EQ(constraints.forbidden_after(Ids{}), tokenizer.encode("eins"));
  EXPECT_EQ(constraints.num_missing(tokenizer.encode("eins zwei drei")), 0);
  io::expect_error(ErrorKind::usage, "required words: expected a word, found a blank one",
                   [&] { Constraints::of_words(none, std::vector<std::string>{" "}, tokenizer); });
  io::expect_error(
      ErrorKind::usage, "forbidden words: expected a word of the vocabulary, found 'hundert'",
      [&] { Constraints::of_words(std::vector<std::string>{"hundert"}, none, tokenizer); });
}

}  // namespace
}  // namespace heed::generate
