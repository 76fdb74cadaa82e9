#include "heed/data/masking.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "heed/base/error.h"
#include "heed/text/tokenizer.h"

namespace heed::data {
namespace {

constexpr int mask = 4, vocabulary = 100, end_token = text::Tokenizer::end;

std::vector<int> line_of(int length) {
  std::vector<int> ids;
  for (int i = 0; i < length; ++i) ids.push_back(10 + i % 80);
  ids.push_back(end_token);
  return ids;
}

Masking masking(std::uint64_t seed = 1) {
  std::vector<int> ordinary;
  for (int id = mask + 1; id < vocabulary; ++id) ordinary.push_back(id);
  return Masking({.mask = mask, .ordinary = ordinary, .special = {0, 2, end_token}, .seed = seed});
}

TEST(Masking, HidesTheSharesOfThePaper) {
  const std::vector<int> line = line_of(40);
  Index tokens = 0, chosen = 0, masked = 0, kept = 0, replaced = 0;
  for (Index i = 0; i < 2000; ++i) {
    const MaskedLine result = masking().apply(line, 0, i);
    tokens += 40;
    for (std::size_t c = 0; c < result.places.size(); ++c) {
      const int shown = result.ids[result.places[c]];
      EXPECT_EQ(result.hidden[c], line[result.places[c]]);
      ++chosen;
      if (shown == mask) {
        ++masked;
      } else {
        ++(shown == result.hidden[c] ? kept : replaced);
      }
    }
  }
  const auto share = [](Index part, Index whole) { return static_cast<double>(part) / whole; };
  EXPECT_NEAR(share(chosen, tokens), 0.15, 0.005);
  EXPECT_NEAR(share(masked, chosen), 0.8, 0.01);
  EXPECT_NEAR(share(replaced, chosen), 0.1, 0.01);  // sometimes by the same token
  EXPECT_NEAR(share(kept, chosen), 0.1, 0.01);
}

TEST(Masking, LeavesAllOtherTokensAndTheEndAsTheyAre) {
  const std::vector<int> line = line_of(30);
  for (Index i = 0; i < 200; ++i) {
    const MaskedLine result = masking().apply(line, 0, i);
    ASSERT_EQ(result.ids.size(), line.size());
    EXPECT_TRUE(std::ranges::is_sorted(result.places));
    for (Index place = 0; place < 31; ++place) {
      if (std::ranges::count(result.places, place) == 0) {
        EXPECT_EQ(result.ids[place], line[place]);
      }
    }
    EXPECT_EQ(std::ranges::count(result.places, 30), 0);
  }
}

TEST(Masking, AlwaysHidesATokenOfALine) {
  std::vector<Index> chosen(3);
  for (Index i = 0; i < 300; ++i) {
    EXPECT_EQ(masking().apply(line_of(1), 0, i).places, (std::vector<Index>{0}));
    const MaskedLine result = masking().apply(line_of(3), 0, i);
    ASSERT_GE(result.places.size(), 1u);
    if (result.places.size() == 1) ++chosen[result.places[0]];
  }
  for (const Index count : chosen) EXPECT_GT(count, 50);
}

TEST(Masking, PutsOnlyOrdinaryTokensInTheirPlace) {
  const Masking few({.mask = mask, .ordinary = {5, 6}});
  std::vector<Index> seen(7);
  const std::vector<int> line(200, 5);
  for (Index i = 0; i < 50; ++i) {
    const MaskedLine result = few.apply(line, 0, i);
    for (const Index place : result.places) ++seen[result.ids[place]];
  }
  EXPECT_EQ((std::vector<Index>{seen.begin(), seen.begin() + 4}), (std::vector<Index>(4, 0)));
  EXPECT_GT(seen[6], 0);
}

TEST(Masking, HidesNoneOfTheTokensAroundAText) {
  const Masking masks({.mask = mask, .ordinary = {5, 6}, .special = {0, 2, 3}});
  for (Index i = 0; i < 50; ++i) {
    for (const Index place : masks.apply(std::vector<int>{2, 5, 6, 3}, 0, i).places) {
      EXPECT_TRUE(place == 1 || place == 2) << place;
    }
  }
}

TEST(Masking, TakesTheTokensOfATokenizer) {
  const std::vector<std::string> lines{"the old dog sleeps"};
  const auto tokenizer = text::Tokenizer::train(
      lines, {.vocabulary = 40, .subwords = text::Subwords::character, .with_mask = true});
  const MaskingOptions options = masking_options(tokenizer, 7);
  EXPECT_EQ(options.mask, tokenizer.mask());
  EXPECT_EQ(options.special, (std::vector<int>{0, 2, 3}));
  EXPECT_EQ(options.ordinary.front(), 5);  // after the special ones and the mask
  EXPECT_EQ(std::ssize(options.ordinary), tokenizer.size() - 5);
  EXPECT_EQ(options.seed, 7u);
}

TEST(Masking, IsAFunctionOfSeedEpochAndLine) {
  const std::vector<int> line = line_of(60);
  const MaskedLine first = masking().apply(line, 2, 5);
  EXPECT_EQ(masking().apply(line, 2, 5).ids, first.ids);
  EXPECT_NE(masking().apply(line, 3, 5).places, first.places);
  EXPECT_NE(masking().apply(line, 2, 6).places, first.places);
  EXPECT_NE(masking(2).apply(line, 2, 5).places, first.places);
}

TEST(Masking, RefusesAVocabularyWithoutOrdinaryTokensAndAnEmptyLine) {
  EXPECT_THROW(Masking({.mask = 4}), Error);
  EXPECT_THROW(Masking({.mask = 3, .ordinary = {5}, .special = {0, 2, 3}}), Error);
  EXPECT_THROW(masking().apply(std::vector<int>{end_token}, 0, 0), Error);
}

}  // namespace
}  // namespace heed::data
