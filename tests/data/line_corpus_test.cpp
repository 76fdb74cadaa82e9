#include "heed/data/line_corpus.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace heed::data {
namespace {

const std::vector<std::string> lines{"red green", "", "blue", "red red red red red", "green"};

text::Tokenizer words() {
  return text::Tokenizer::train(lines, {.vocabulary = 20, .subwords = text::Subwords::word});
}

TEST(LineCorpus, KeepsTheLinesThatCanBeUsedAndCountsTheOthers) {
  const text::Tokenizer tokenizer = words();
  const auto corpus = LineCorpus::tokenize(lines, tokenizer, {.max_length = 4});
  ASSERT_EQ(corpus.size(), 3);
  EXPECT_EQ(corpus.num_blank(), 1);
  EXPECT_EQ(corpus.num_too_long(), 1);
  EXPECT_EQ((std::vector<Index>{corpus.place(0), corpus.place(1), corpus.place(2)}),
            (std::vector<Index>{0, 2, 4}));
  EXPECT_EQ(corpus.ids(0).size(), 3u);
  EXPECT_EQ(corpus.ids(0).back(), text::Tokenizer::end);
  EXPECT_EQ(corpus.sizes()[0].source, 3);
  EXPECT_EQ(tokenizer.decode(corpus.ids(1)), "blue");
}

TEST(LineCorpus, TruncatesLinesInsteadOfLeavingThemOut) {
  const text::Tokenizer tokenizer = words();
  const auto corpus = LineCorpus::tokenize(lines, tokenizer, {.max_length = 4, .truncate = 3});
  ASSERT_EQ(corpus.size(), 4);
  EXPECT_EQ(corpus.num_too_long(), 0);
  EXPECT_EQ(corpus.num_truncated(), 1);
  EXPECT_EQ(tokenizer.decode(corpus.ids(2)), "red red");
  EXPECT_EQ(corpus.ids(2).back(), text::Tokenizer::end);
  EXPECT_EQ(corpus.lengths().max, 6);
}

TEST(LineCorpus, LinesOfWhiteSpaceAreBlank) {
  const std::vector<std::string> spaced{"red", "   ", "\t", " \t ", "green"};
  const auto tokenizer =
      text::Tokenizer::train(spaced, {.vocabulary = 30, .subwords = text::Subwords::character});
  ASSERT_FALSE(tokenizer.encode("   ").empty());
  const auto corpus = LineCorpus::tokenize(spaced, tokenizer, {.max_length = 20});
  EXPECT_EQ(corpus.num_blank(), 3);
  EXPECT_EQ(corpus.size(), 2);
  EXPECT_EQ(corpus.place(1), 4);
}

TEST(LineCorpus, TakesLinesThatAreTokenizedAlready) {
  const int end = text::Tokenizer::end;
  const auto corpus = LineCorpus::of_tokens({{5, end}, {}, {6, 7, 8, end}, {9, end}},
                                            text::own_sequence(), {.max_length = 3});
  ASSERT_EQ(corpus.size(), 2);
  EXPECT_EQ(corpus.num_blank(), 1);
  EXPECT_EQ(corpus.num_too_long(), 1);
  EXPECT_EQ(corpus.place(1), 3);
  EXPECT_EQ(corpus.ids(1).front(), 9);
}

TEST(LineCorpus, PairsAreOneLineWithTwoEndTokens) {
  const text::Tokenizer tokenizer = words();
  const std::vector<std::string> first{"red", "", "green red red red"},
      second{"blue", "red", "blue"};
  const auto corpus = LineCorpus::tokenize_pairs(first, second, tokenizer, {.max_length = 5});
  ASSERT_EQ(corpus.size(), 1);
  EXPECT_EQ(corpus.num_blank(), 1);
  EXPECT_EQ(corpus.num_too_long(), 1);
  const int red = tokenizer.encode("red")[0], blue = tokenizer.encode("blue")[0];
  const int end = text::Tokenizer::end;
  EXPECT_EQ((std::vector<int>{corpus.ids(0).begin(), corpus.ids(0).end()}),
            (std::vector<int>{red, end, blue, end}));
  const auto cut =
      LineCorpus::tokenize_pairs(first, second, tokenizer, {.max_length = 5, .truncate = 5});
  EXPECT_EQ(cut.size(), 2);
  EXPECT_EQ(cut.num_truncated(), 1);
}

TEST(LineCorpus, RefusesATextOfWhichNothingRemains) {
  expect_error(ErrorKind::data,
               "corpus: expected lines of text, found none that can be used among 5 (1 blank, 4 "
               "longer than 1 tokens)",
               [] { LineCorpus::tokenize(lines, words(), {.max_length = 1}); });
}

}  // namespace
}  // namespace heed::data
