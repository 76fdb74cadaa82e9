#include "heed/infer/constraints.h"

#include <gtest/gtest.h>

#include <cmath>

#include "infer/memorised_generator.h"
#include "infer/memorised_translator.h"
#include "support/expect_error.h"

namespace heed::infer {
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

TEST(Constraints, NeedTheTokensOfWhatIsMissingButForABeginning) {
  const Constraints constraints({}, {{4, 5}, {5, 6, 5, 7}});
  EXPECT_EQ(constraints.num_needed(Ids{}), 6);
  EXPECT_EQ(constraints.num_needed(Ids{4}), 5);
  EXPECT_EQ(constraints.num_needed(Ids{4, 5}), 3);
  EXPECT_EQ(constraints.num_needed(Ids{4, 5, 8}), 4);
  EXPECT_EQ(constraints.num_needed(Ids{4, 5, 6, 5, 7}), 0);
}

TEST(Constraints, ForceWhatIsMissingWhenThereIsNoRoomForAnythingElse) {
  const Constraints constraints({}, {{4, 5}, {6, 5, 7}});
  EXPECT_TRUE(constraints.required_next(Ids{}, 6).empty());
  EXPECT_EQ(constraints.required_next(Ids{}, 5), (Ids{4, 6}));
  EXPECT_EQ(constraints.required_next(Ids{8, 6}, 5), (Ids{5}));  // another token would cost 5 more
  EXPECT_TRUE(constraints.required_next(Ids{8, 6}, 6).empty());
  EXPECT_EQ(constraints.required_next(Ids{6, 5, 7}, 2), (Ids{4}));
  EXPECT_EQ(constraints.required_next(Ids{6, 5, 7}, 1), (Ids{4})) << "as much as there is room for";
  EXPECT_TRUE(constraints.required_next(Ids{4, 5, 6, 5, 7}, 1).empty());
  EXPECT_TRUE(Constraints().required_next(Ids{}, 1).empty());
}

TEST(Constraints, RefuseEmptySequencesAndWhatIsBothRequiredAndForbidden) {
  EXPECT_THROW(Constraints({{}}, {}), Error);
  EXPECT_THROW(Constraints({}, {{4}, {}}), Error);
  EXPECT_THROW(Constraints({{5, 6}}, {{4, 5, 6}}), Error);
  EXPECT_NO_THROW(Constraints({{4, 6}}, {{4, 5, 6}}));
}

TEST(Constraints, OfWordsWithinARunningTextHaveASpaceBefore) {
  const text::Tokenizer& tokenizer = rhyme_model().tokenizer;
  const std::vector<std::string> none, cat{"cat"}, line{"\ncat"};
  const Constraints required = Constraints::of_words(none, cat, tokenizer);
  EXPECT_EQ(required.required(), (std::vector<Ids>{tokenizer.encode(" cat")}));
  EXPECT_EQ(required.missing_words(tokenizer.encode("a bat")), cat);
  EXPECT_TRUE(required.missing_words(tokenizer.encode("a cat")).empty());
  EXPECT_EQ(Constraints::of_words(none, line, tokenizer).required(),
            (std::vector<Ids>{tokenizer.encode("\ncat")}));
  const Constraints forbidden = Constraints::of_words(cat, none, tokenizer);
  for (const char* past : {"a ca", "ca"}) {
    EXPECT_EQ(forbidden.forbidden_after(tokenizer.encode(past)), tokenizer.encode("t")) << past;
  }
}

TEST(Constraints, OfWordsAreTheTokensOfTheTokenizer) {
  const text::Tokenizer& tokenizer = word_by_word_model().tokenizer;
  const std::vector<std::string> none, eins{"eins"}, two{"zwei drei"};
  const Constraints constraints = Constraints::of_words(eins, two, tokenizer);
  EXPECT_EQ(constraints.forbidden_after(Ids{}), tokenizer.encode("eins"));
  EXPECT_EQ(constraints.num_missing(tokenizer.encode("eins zwei drei")), 0);
  expect_error(ErrorKind::usage, "required words: expected a word, found a blank one",
               [&] { Constraints::of_words(none, std::vector<std::string>{" "}, tokenizer); });
  expect_error(
      ErrorKind::usage, "forbidden words: expected a word of the vocabulary, found 'hundert'",
      [&] { Constraints::of_words(std::vector<std::string>{"hundert"}, none, tokenizer); });
}

}  // namespace
}  // namespace heed::infer
