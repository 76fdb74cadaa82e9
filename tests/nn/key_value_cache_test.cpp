#include "heed/nn/key_value_cache.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "support/same_bits.h"

namespace heed::nn {
namespace {

// One token for each row: row r gets the numbers from first + 10 r on.
KeysAndValues tokens(Index rows, float first) {
  Tensor keys = Tensor::empty({rows, 2});
  for (Index r = 0; r < rows; ++r) {
    keys.values()[2 * r] = first + 10 * static_cast<float>(r);
    keys.values()[2 * r + 1] = first + 10 * static_cast<float>(r) + 1;
  }
  Tensor values = keys.clone();
  for (float& v : values.values()) v = -v;
  return {{keys, Spans::of_lengths(std::vector<Index>(rows, 1))}, values};
}

// What the cache holds for a row: the first number of each key.
std::vector<float> row_of(const KeysAndValues& all, Index row) {
  std::vector<float> found;
  const Span& span = all.keys.spans[row];
  for (Index i = span.begin; i < span.begin + span.length; ++i) {
    found.push_back(all.keys.values.values()[2 * i]);
    EXPECT_EQ(all.values.values()[2 * i], -all.keys.values.values()[2 * i]);
  }
  return found;
}

TEST(KeyValueCache, ReturnsEverythingThatARowHasSeen) {
  KeyValueCache cache(2);
  cache.append(tokens(2, 1));
  const KeysAndValues all = cache.append(tokens(2, 2));
  EXPECT_EQ(row_of(all, 0), (std::vector<float>{1, 2}));
  EXPECT_EQ(row_of(all, 1), (std::vector<float>{11, 12}));
}

TEST(KeyValueCache, TakesSeveralTokensARowAndRowsOfDifferentLengths) {
  KeyValueCache cache(2);
  KeysAndValues fresh = tokens(3, 1);
  fresh.keys.spans = Spans::of_lengths(std::vector<Index>{2, 1});
  cache.append(fresh);
  const KeysAndValues all = cache.append(tokens(2, 5));
  EXPECT_EQ(row_of(all, 0), (std::vector<float>{1, 11, 5}));
  EXPECT_EQ(row_of(all, 1), (std::vector<float>{21, 15}));
}

TEST(KeyValueCache, KeepsRepeatsAndDropsRows) {
  KeyValueCache cache(3);
  cache.append(tokens(3, 1));
  cache.reorder(std::vector<Index>{2, 0, 2, 2});
  const KeysAndValues all = cache.append(tokens(4, 2));
  EXPECT_EQ(row_of(all, 0), (std::vector<float>{21, 2}));
  EXPECT_EQ(row_of(all, 1), (std::vector<float>{1, 12}));
  EXPECT_EQ(row_of(all, 2), (std::vector<float>{21, 22}));
  EXPECT_EQ(row_of(all, 3), (std::vector<float>{21, 32}));
}

TEST(KeyValueCache, MayBeReorderedBeforeTheFirstTokenAndToNothing) {
  KeyValueCache cache(1);
  cache.reorder(std::vector<Index>{0, 0});
  EXPECT_EQ(row_of(cache.append(tokens(2, 1)), 1), (std::vector<float>{11}));
  cache.reorder(std::vector<Index>{});
  EXPECT_EQ(cache.lengths().size(), 0u);
}

TEST(KeyValueCache, EqualsRowsThatAreKeptAsListsOverManyRandomSteps) {
  Rng rng(7);
  KeyValueCache cache(1);
  std::vector<std::vector<float>> expected(1);
  for (int step = 0; step < 70; ++step) {
    const Index rows = static_cast<Index>(expected.size());
    const KeysAndValues all = cache.append(tokens(rows, static_cast<float>(1000 * step)));
    for (Index r = 0; r < rows; ++r) {
      expected[r].push_back(static_cast<float>(1000 * step + 10 * r));
      ASSERT_EQ(row_of(all, r), expected[r]) << "step " << step << ", row " << r;
    }
    std::vector<Index> order(1 + rng.below(12));
    std::vector<std::vector<float>> reordered;
    for (Index& row : order) {
      row = static_cast<Index>(rng.below(rows));
      reordered.push_back(expected[row]);
    }
    cache.reorder(order);
    expected = std::move(reordered);
  }
}

TEST(KeyValueCache, RefusesRowsThatAreNotThere) {
  KeyValueCache cache(2);
  EXPECT_THROW(cache.append(tokens(3, 1)), Error);
  EXPECT_THROW(cache.reorder(std::vector<Index>{2}), Error);
}

TEST(KeyValueCache, MakesRoomOnlyForTheRowsThatGoOn) {
  KeyValueCache cache(8);
  for (int step = 0; step < 16; ++step) cache.append(tokens(8, static_cast<float>(step)));
  cache.reorder(std::vector<Index>{6, 3});
  const KeysAndValues all = cache.append(tokens(2, 100));
  EXPECT_EQ(all.keys.values.dim(0), 2 * 32);  // two rows of twice the length
  std::vector<float> expected;
  for (int step = 0; step < 16; ++step) expected.push_back(60 + static_cast<float>(step));
  expected.push_back(100);
  EXPECT_EQ(row_of(all, 0), expected);
  cache.reorder(std::vector<Index>{1, 0, 1});
  EXPECT_EQ(row_of(cache.append(tokens(3, 200)), 1).size(), 18u);
}

}  // namespace
}  // namespace heed::nn
