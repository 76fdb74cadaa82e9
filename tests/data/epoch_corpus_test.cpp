#include "heed/data/epoch_corpus.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/data/grammar_corpus.h"

namespace heed::data {
namespace {

using Lines = std::vector<std::string>;
using Ids = std::vector<std::vector<int>>;

struct Text {
  Lines source, target;

  Text() {
    for (const auto& pair : generate_corpus({.num_pairs = 600}).train) {
      source.push_back(pair.source);
      target.push_back(pair.target);
    }
  }
  text::Tokenizer tokenizer() const {
    Lines all = source;
    all.insert(all.end(), target.begin(), target.end());
    return text::Tokenizer::train(all, {.vocabulary = 400});
  }
};

std::vector<int> to_vector(std::span<const int> ids) { return {ids.begin(), ids.end()}; }

Ids all_ids(const TranslationCorpus& corpus) {
  Ids ids;
  for (Index i = 0; i < corpus.size(); ++i) {
    ids.push_back(to_vector(corpus.source(i)));
    ids.push_back(to_vector(corpus.target(i)));
  }
  return ids;
}

TEST(EpochCorpus, WithoutDropoutEveryEpochIsTheTokenizersCorpus) {
  const Text text;
  const auto tokenizer = text.tokenizer();
  EpochCorpus corpus(text.source, text.target, tokenizer, {});
  const Ids expected = all_ids(TranslationCorpus::tokenize(text.source, text.target, tokenizer));
  for (const Index epoch : {0, 1, 7}) EXPECT_EQ(all_ids(corpus.of_epoch(epoch)), expected);
}

TEST(EpochCorpus, TheBuiltInCorpusIsCutAsByTheTokenizerWhenNothingIsDropped) {
  const Text text;
  const auto tokenizer = text.tokenizer();
  const text::BpeDropout dropout(tokenizer, 0);
  for (const Lines& lines : {text.source, text.target}) {
    for (const std::string& line : lines) {
      ASSERT_EQ(dropout.encode(line, 1), tokenizer.encode(line)) << line;
    }
  }
}

TEST(EpochCorpus, AnEpochDependsOnSeedAndEpochAlone) {
  const Text text;
  const auto tokenizer = text.tokenizer();
  const auto make = [&](std::uint64_t seed) {
    return EpochCorpus(text.source, text.target, tokenizer, {.bpe_dropout = 0.2, .seed = seed});
  };
  EpochCorpus corpus = make(1), again = make(1), other = make(2);
  const Ids first = all_ids(corpus.of_epoch(0));
  const Ids second = all_ids(corpus.of_epoch(1));
  EXPECT_NE(first, second);
  EXPECT_NE(first, all_ids(other.of_epoch(0)));
  EXPECT_EQ(second, all_ids(again.of_epoch(1)));
  EXPECT_EQ(first, all_ids(again.of_epoch(0)));
  EXPECT_EQ(first, all_ids(corpus.of_epoch(0)));
}

TEST(EpochCorpus, TheTwoSidesAreCutByDifferentNumbers) {
  const Text text;
  EpochCorpus corpus(text.source, text.source, text.tokenizer(), {.bpe_dropout = 0.3});
  const Ids ids = all_ids(corpus.of_epoch(0));
  int num_equal = 0;
  for (std::size_t i = 0; i < ids.size(); i += 2) num_equal += ids[i] == ids[i + 1];
  EXPECT_LT(num_equal, static_cast<int>(ids.size()) / 8);
}

TEST(EpochCorpus, EverySentenceDecodesToItsLineAndEndsWithTheEndToken) {
  const Text text;
  const auto tokenizer = text.tokenizer();
  EpochCorpus epochs(text.source, text.target, tokenizer, {.bpe_dropout = 0.3});
  const TranslationCorpus& corpus = epochs.of_epoch(3);
  for (Index i = 0; i < corpus.size(); ++i) {
    EXPECT_EQ(tokenizer.decode(corpus.source(i)), text.source[corpus.line(i)]);
    EXPECT_EQ(tokenizer.decode(corpus.target(i)), text.target[corpus.line(i)]);
    EXPECT_EQ(corpus.source(i).back(), text::own_tokens::end);
    EXPECT_EQ(corpus.sizes()[i].target, static_cast<Index>(corpus.target(i).size()));
  }
}

TEST(EpochCorpus, DropoutLeavesNoPairOutAndMakesNoneTooLong) {
  const Text text;
  const auto tokenizer = text.tokenizer();
  const Index max_length = 18;
  const auto plain =
      TranslationCorpus::tokenize(text.source, text.target, tokenizer, {.max_length = max_length});
  ASSERT_GT(plain.num_too_long(), 0);
  EpochCorpus epochs(text.source, text.target, tokenizer,
                     {.max_length = max_length, .bpe_dropout = 0.1});
  const TranslationCorpus& corpus = epochs.of_epoch(0);
  ASSERT_EQ(corpus.size(), plain.size());
  EXPECT_EQ(corpus.num_too_long(), plain.num_too_long());
  Index num_longer = 0, num_plain = 0;
  for (Index i = 0; i < corpus.size(); ++i) {
    EXPECT_EQ(corpus.line(i), plain.line(i));
    const auto length = static_cast<Index>(corpus.source(i).size());
    ASSERT_LE(length, max_length);
    num_longer += length > static_cast<Index>(plain.source(i).size());
    num_plain += to_vector(corpus.source(i)) == to_vector(plain.source(i));
  }
  EXPECT_GT(num_longer, 0);
  EXPECT_GT(num_plain, 0);
}

TEST(EpochCorpus, IsTheSameForAnyNumberOfThreads) {
  const Text text;
  const auto tokenizer = text.tokenizer();
  const int before = num_threads();
  std::vector<Ids> ids;
  for (const int threads : {1, 2, 3}) {
    set_num_threads(threads);
    EpochCorpus corpus(text.source, text.target, tokenizer, {.bpe_dropout = 0.1});
    ids.push_back(all_ids(corpus.of_epoch(5)));
  }
  set_num_threads(before);
  EXPECT_EQ(ids[0], ids[1]);
  EXPECT_EQ(ids[0], ids[2]);
}

TEST(EpochCorpus, RefusesDropoutOfOtherPieces) {
  const Lines lines{"a b c d", "d c b a"};
  const auto tokenizer =
      text::Tokenizer::train(lines, {.vocabulary = 20, .subwords = text::Subwords::character});
  EXPECT_NO_THROW(EpochCorpus(lines, lines, tokenizer, {}));
  EXPECT_THROW(EpochCorpus(lines, lines, tokenizer, {.bpe_dropout = 0.1}), Error);
}

}  // namespace
}  // namespace heed::data
