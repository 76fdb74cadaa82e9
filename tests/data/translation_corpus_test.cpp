#include "heed/data/translation_corpus.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/base/parallel.h"

namespace heed::data {
namespace {

using Lines = std::vector<std::string>;

text::Tokenizer character_tokenizer() {
  return text::Tokenizer::train(Lines{"a b c d", "d c b a"},
                                {.vocabulary = 20, .subwords = text::Subwords::character});
}

std::vector<int> with_end(std::vector<int> ids) {
  ids.push_back(text::Tokenizer::end);
  return ids;
}

std::vector<int> to_vector(std::span<const int> ids) { return {ids.begin(), ids.end()}; }

TEST(TranslationCorpus, SentencesEndWithTheEndToken) {
  const auto tokenizer = character_tokenizer();
  const auto corpus = TranslationCorpus::tokenize(Lines{"a b"}, Lines{"c"}, tokenizer);
  ASSERT_EQ(corpus.size(), 1);
  EXPECT_EQ(to_vector(corpus.source(0)), with_end(tokenizer.encode("a b")));
  EXPECT_EQ(to_vector(corpus.target(0)), with_end(tokenizer.encode("c")));
  EXPECT_EQ(corpus.sizes()[0].source, static_cast<Index>(corpus.source(0).size()));
  EXPECT_EQ(corpus.sizes()[0].target, static_cast<Index>(corpus.target(0).size()));
}

TEST(TranslationCorpus, CountsWhatItLeavesOut) {
  const auto tokenizer = character_tokenizer();
  const auto corpus = TranslationCorpus::tokenize(Lines{"a", "", "b", "a a a a a a", "c", "d"},
                                                  Lines{"a", "b", "", "b", "c c c c c c", "d"},
                                                  tokenizer, {.max_length = 6});
  ASSERT_EQ(corpus.size(), 2);
  EXPECT_EQ(corpus.num_blank(), 2);
  EXPECT_EQ(corpus.num_too_long(), 2);
  EXPECT_EQ(corpus.line(0), 0);
  EXPECT_EQ(corpus.line(1), 5);
}

TEST(TranslationCorpus, TruncatesSourcesInsteadOfLeavingThemOut) {
  const auto tokenizer = character_tokenizer();
  const Lines source{"a b", "a b c d", "a b c d"}, target{"c", "c", "a b c d"};
  const auto corpus =
      TranslationCorpus::tokenize(source, target, tokenizer, {.max_length = 6, .truncate = 5});
  ASSERT_EQ(corpus.size(), 2);
  EXPECT_EQ(corpus.num_too_long(), 1);  // its target is
  EXPECT_EQ(corpus.num_truncated(), 1);
  auto cut = tokenizer.encode("a b c d");
  cut.resize(4);
  EXPECT_EQ(to_vector(corpus.source(1)), with_end(cut));
  EXPECT_EQ(corpus.source_lengths().max, std::ssize(tokenizer.encode("a b c d")) + 1);
  EXPECT_EQ(corpus.pair_lengths().max, corpus.target_lengths().max);
  EXPECT_GT(corpus.pair_lengths().max, 6);
}

TEST(TranslationCorpus, SidesOfWhiteSpaceAreBlank) {
  const auto tokenizer = character_tokenizer();
  ASSERT_FALSE(tokenizer.encode("   ").empty());
  const auto corpus = TranslationCorpus::tokenize(Lines{"a", "   ", "b", "  ", "c"},
                                                  Lines{"a", "b", " \t", " ", "c"}, tokenizer);
  EXPECT_EQ(corpus.num_blank(), 3);
  ASSERT_EQ(corpus.size(), 2);
  EXPECT_EQ(corpus.line(1), 4);
}

TEST(TranslationCorpus, TheLongestAllowedSentenceStays) {
  const auto tokenizer = character_tokenizer();
  const auto length = static_cast<Index>(with_end(tokenizer.encode("a b c")).size());
  const auto size = [&](Index max_length) {
    return TranslationCorpus::tokenize(Lines{"a b c", "a"}, Lines{"a", "a"}, tokenizer,
                                       {.max_length = max_length})
        .size();
  };
  EXPECT_EQ(size(length), 2);
  EXPECT_EQ(size(length - 1), 1);
}

TEST(TranslationCorpus, IsTheSameForAnyNumberOfThreads) {
  const auto tokenizer = character_tokenizer();
  Lines source, target;
  for (int i = 0; i < 2000; ++i) {
    source.push_back(std::string(1 + i % 7, 'a') + " b");
    target.push_back(std::string(i % 5, 'c'));
  }
  const int before = num_threads();
  set_num_threads(1);
  const auto one = TranslationCorpus::tokenize(source, target, tokenizer);
  set_num_threads(3);
  const auto three = TranslationCorpus::tokenize(source, target, tokenizer);
  set_num_threads(before);
  ASSERT_EQ(one.size(), three.size());
  for (Index i = 0; i < one.size(); ++i) {
    EXPECT_EQ(to_vector(one.source(i)), to_vector(three.source(i)));
    EXPECT_EQ(to_vector(one.target(i)), to_vector(three.target(i)));
  }
}

TEST(TranslationCorpus, RefusesTextsWithoutAUsablePair) {
  const auto tokenizer = character_tokenizer();
  const auto kind_of_error = [&](const Lines& source, const Lines& target) {
    try {
      TranslationCorpus::tokenize(source, target, tokenizer);
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::failed;
  };
  EXPECT_EQ(kind_of_error({}, {}), ErrorKind::data);
  EXPECT_EQ(kind_of_error({"", "a"}, {"a", ""}), ErrorKind::data);
  EXPECT_EQ(kind_of_error({"a"}, {"a", "b"}), ErrorKind::data);
}

TEST(TruncatePair, CutsTheLongerTextFirst) {
  constexpr int end = text::Tokenizer::end;
  const auto truncated = [](std::vector<int> ids, Index max_tokens) {
    text::own_sequence().truncate_pair(ids, max_tokens);
    return ids;
  };
  using Ids = std::vector<int>;
  const Ids long_first{11, 12, 13, 14, end, 21, 22, end};
  EXPECT_EQ(truncated(long_first, 8), long_first);
  EXPECT_EQ(truncated(long_first, 7), (Ids{11, 12, 13, end, 21, 22, end}));
  EXPECT_EQ(truncated(long_first, 5), (Ids{11, 12, end, 21, end}));
  EXPECT_EQ(truncated({11, end, 21, 22, 23, end}, 4), (Ids{11, end, 21, end}));
  EXPECT_EQ(truncated({11, end, 21, 22, 23, end}, 5), (Ids{11, end, 21, 22, end}));
  EXPECT_EQ(truncated(long_first, 2), (Ids{end, end}));
}

}  // namespace
}  // namespace heed::data
