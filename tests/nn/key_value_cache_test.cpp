#include "heed/nn/key_value_cache.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/kernels/attention.h"

namespace heed::nn {
namespace {

// One token for each row: row r gets first + 10 r in its first head and one more in the second.
KeysAndValues tokens(Index rows, float first) {
  Tensor keys = Tensor::empty({rows, 2});
  for (Index r = 0; r < rows; ++r) {
    keys.values()[2 * r] = first + 10 * static_cast<float>(r);
    keys.values()[2 * r + 1] = first + 10 * static_cast<float>(r) + 1;
  }
  Tensor values = keys.clone();
  for (float& v : values.values()) v = -v;
  return {{keys, Spans::of_lengths(std::vector<Index>(rows, 1))}, values, 2};
}

constexpr Index page_rows = kernels::attention_page_rows;

// What the cache holds for a row: the number of each key's first head.
std::vector<float> row_of(const ops::PagedKeys& all, Index row) {
  std::vector<float> found;
  const auto keys = all.keys.values(), values = all.values.values();
  for (Index t = 0; t < all.lengths[row]; ++t) {
    const Index first = all.pages[row][t / page_rows] * page_rows + t % page_rows;
    const Index second = all.keys.dim(1) * page_rows + first;
    found.push_back(keys[first]);
    EXPECT_EQ(keys[second], keys[first] + 1);
    for (const Index i : {first, second}) EXPECT_EQ(values[i], -keys[i]);
  }
  return found;
}

// One row of so many tokens.
KeysAndValues text_of(Index length, float first = 0) {
  KeysAndValues text = tokens(length, first);
  text.keys.spans = Spans::single(length);
  return text;
}

TEST(KeyValueCache, ReturnsEverythingThatARowHasSeen) {
  KeyValueCache cache(2);
  cache.append(tokens(2, 1));
  const ops::PagedKeys& all = cache.append(tokens(2, 2));
  EXPECT_EQ(row_of(all, 0), (std::vector<float>{1, 2}));
  EXPECT_EQ(row_of(all, 1), (std::vector<float>{11, 12}));
}

TEST(KeyValueCache, TakesSeveralTokensARowAndRowsOfDifferentLengths) {
  KeyValueCache cache(2);
  KeysAndValues fresh = tokens(3, 1);
  fresh.keys.spans = Spans::of_lengths(std::vector<Index>{2, 1});
  cache.append(fresh);
  const ops::PagedKeys& all = cache.append(tokens(2, 5));
  EXPECT_EQ(row_of(all, 0), (std::vector<float>{1, 11, 5}));
  EXPECT_EQ(row_of(all, 1), (std::vector<float>{21, 15}));
}

TEST(KeyValueCache, KeepsRepeatsAndDropsRows) {
  KeyValueCache cache(3);
  cache.append(tokens(3, 1));
  cache.reorder(std::vector<Index>{2, 0, 2, 2});
  const ops::PagedKeys& all = cache.append(tokens(4, 2));
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
    const ops::PagedKeys& all = cache.append(tokens(rows, static_cast<float>(1000 * step)));
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

TEST(KeyValueCache, RowsOfOnePastShareItsPages) {
  KeyValueCache cache(1);
  cache.append(text_of(2 * page_rows));
  EXPECT_EQ(cache.num_pages(), 2);
  cache.reorder(std::vector<Index>(5, 0));
  EXPECT_EQ(cache.num_pages(), 2);
  const ops::PagedKeys& all = cache.append(tokens(5, 1000));
  EXPECT_EQ(cache.num_pages(), 2 + 5);  // the past, and a page each for what is new
  for (Index row = 0; row < 5; ++row) {
    EXPECT_EQ(all.pages[row][0], all.pages[0][0]);
    EXPECT_EQ(row_of(all, row).back(), 1000 + 10 * static_cast<float>(row));
  }
}

TEST(KeyValueCache, APageThatIsNotFullIsCopiedForAllWritersButOne) {
  KeyValueCache cache(1);
  cache.append(text_of(page_rows + 3));
  cache.reorder(std::vector<Index>(4, 0));
  const ops::PagedKeys& all = cache.append(tokens(4, 1000));
  EXPECT_EQ(cache.num_pages(), 1 + 4);
  for (Index row = 0; row < 4; ++row) {
    std::vector<float> expected;
    for (int t = 0; t < page_rows + 3; ++t) expected.push_back(10 * static_cast<float>(t));
    expected.push_back(1000 + 10 * static_cast<float>(row));
    EXPECT_EQ(row_of(all, row), expected);
  }
}

TEST(KeyValueCache, ARowThatGetsNothingNewCopiesNothing) {
  KeyValueCache cache(1);
  cache.append(text_of(3));
  cache.reorder(std::vector<Index>{0, 0});
  KeysAndValues fresh = tokens(1, 1000);
  fresh.keys.spans = Spans::of_lengths(std::vector<Index>{0, 1});
  const ops::PagedKeys& all = cache.append(fresh);
  EXPECT_EQ(row_of(all, 0), (std::vector<float>{0, 10, 20}));
  EXPECT_EQ(row_of(all, 1), (std::vector<float>{0, 10, 20, 1000}));
}

TEST(KeyValueCache, PagesOfRowsThatEndedAreUsedAgain) {
  KeyValueCache cache(8);
  for (int step = 0; step < page_rows; ++step) cache.append(tokens(8, static_cast<float>(step)));
  EXPECT_EQ(cache.num_pages(), 8);
  cache.reorder(std::vector<Index>{6, 3});
  EXPECT_EQ(cache.num_pages(), 2);
  for (int step = 0; step < 3 * page_rows; ++step) {
    const ops::PagedKeys& all = cache.append(tokens(2, 1000 + static_cast<float>(step)));
    EXPECT_EQ(all.keys.dim(1), 8);  // no more memory than before
  }
  EXPECT_EQ(cache.num_pages(), 8);
  const ops::PagedKeys& all = cache.append(tokens(2, 2000));
  EXPECT_EQ(row_of(all, 0)[page_rows - 1], 60 + static_cast<float>(page_rows - 1));
  EXPECT_EQ(row_of(all, 1)[page_rows], 1010);
}

}  // namespace
}  // namespace heed::nn
