#include "heed/data/batch_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "heed/base/random.h"

namespace heed::data {
namespace {

std::vector<PairSize> random_sizes(Index count, Index longest) {
  Rng rng(7);
  std::vector<PairSize> sizes;
  for (Index i = 0; i < count; ++i) {
    sizes.push_back(
        {1 + static_cast<Index>(rng.below(longest)), 1 + static_cast<Index>(rng.below(longest))});
  }
  return sizes;
}

std::vector<Index> all_pairs(const BatchPlan& plan) {
  std::vector<Index> pairs;
  for (Index i = 0; i < plan.size(); ++i) {
    pairs.insert(pairs.end(), plan.batch(i).begin(), plan.batch(i).end());
  }
  return pairs;
}

Index larger_side(std::span<const Index> batch, std::span<const PairSize> sizes) {
  PairSize total;
  for (const Index pair : batch) {
    total.source += sizes[pair].source;
    total.target += sizes[pair].target;
  }
  return std::max(total.source, total.target);
}

TEST(BatchPlan, HoldsEveryPairExactlyOnceInEveryEpoch) {
  const auto sizes = random_sizes(500, 40);
  for (Index epoch = 0; epoch < 3; ++epoch) {
    std::vector<Index> pairs = all_pairs(BatchPlan::shuffled(sizes, 128, 1, epoch));
    std::ranges::sort(pairs);
    ASSERT_EQ(pairs.size(), sizes.size());
    for (Index i = 0; i < 500; ++i) EXPECT_EQ(pairs[i], i);
  }
}

TEST(BatchPlan, KeepsTheBudgetAndFillsIt) {
  const auto sizes = random_sizes(500, 40);
  const auto plan = BatchPlan::shuffled(sizes, 128, 1, 0);
  for (Index i = 0; i < plan.size(); ++i) {
    EXPECT_LE(larger_side(plan.batch(i), sizes), 128);
    if (i + 1 == plan.size()) break;
    // The next pair did not fit any more.
    std::vector<Index> more(plan.batch(i).begin(), plan.batch(i).end());
    more.push_back(plan.batch(i + 1).front());
    EXPECT_GT(larger_side(more, sizes), 128);
  }
}

TEST(BatchPlan, TheOrderIsAFunctionOfSeedAndEpoch) {
  const auto sizes = random_sizes(100, 10);
  const auto order = [&](std::uint64_t seed, Index epoch) {
    return all_pairs(BatchPlan::shuffled(sizes, 64, seed, epoch));
  };
  EXPECT_EQ(order(1, 0), order(1, 0));
  EXPECT_NE(order(1, 0), order(1, 1));
  EXPECT_NE(order(1, 0), order(2, 0));
  EXPECT_NE(order(1, 2), order(2, 1));
}

TEST(BatchPlan, InOrderKeepsTheOrderOfTheCorpus) {
  const std::vector<PairSize> sizes{{3, 2}, {3, 4}, {2, 2}, {6, 6}};
  const auto plan = BatchPlan::in_order(sizes, 6);
  ASSERT_EQ(plan.size(), 3);
  EXPECT_EQ(plan.batch(0).size(), 2u);  // 6 and 6 tokens
  EXPECT_EQ(plan.batch(1)[0], 2);
  EXPECT_EQ(plan.batch(2)[0], 3);
}

TEST(BatchPlan, OfNothingHasNoBatch) { EXPECT_EQ(BatchPlan::in_order({}, 8).size(), 0); }

TEST(BatchPlan, AnItemBeyondTheBudgetIsABatchOfItsOwn) {
  const std::vector<PairSize> sizes{{3, 9}, {1, 1}, {2, 2}, {9, 1}, {1, 1}};
  const auto plan = BatchPlan::in_order(sizes, 8);
  ASSERT_EQ(plan.size(), 4);
  EXPECT_EQ(plan.batch(0).size(), 1u);
  EXPECT_EQ(plan.batch(1).size(), 2u);
  EXPECT_EQ(plan.batch(2).size(), 1u);
  EXPECT_EQ(plan.batch(3).size(), 1u);
}

TEST(BatchesInOrder, AreNeighbouringItemsWithinTheBudget) {
  const std::vector<std::string> items{"aa", "bbb", "c", "dddddddd", "e"};
  const auto batches = batches_in_order(std::span<const std::string>(items), 5,
                                        [](const std::string& item) { return std::ssize(item); });
  ASSERT_EQ(batches.size(), 4u);
  EXPECT_EQ(batches[0].size(), 2u);
  EXPECT_EQ(batches[1][0], "c");
  EXPECT_EQ(batches[2][0], "dddddddd");  // beyond the budget, alone
  EXPECT_EQ(batches[3][0], "e");
}

std::vector<PairSize> rising_sizes(Index count) {
  std::vector<PairSize> sizes;
  for (Index i = 0; i < count; ++i) sizes.push_back({.source = i + 1, .target = 1});
  return sizes;
}

TEST(Curriculum, StartsWithTheShortestAndEndsWithAll) {
  const auto sizes = rising_sizes(101);
  EXPECT_EQ(max_item_tokens(sizes, 0, 4), 21);
  EXPECT_EQ(max_item_tokens(sizes, 2, 4), 61);
  EXPECT_EQ(max_item_tokens(sizes, 3, 4), 81);
  EXPECT_EQ(max_item_tokens(sizes, 4, 4), std::numeric_limits<Index>::max());
  EXPECT_EQ(max_item_tokens(sizes, 0, 0), std::numeric_limits<Index>::max());
  EXPECT_EQ(max_item_tokens({}, 0, 4), std::numeric_limits<Index>::max());
}

TEST(Curriculum, LeavesNothingOutOfItemsWithOneLength) {
  const std::vector<PairSize> sizes(50, {.source = 7, .target = 2});
  EXPECT_EQ(max_item_tokens(sizes, 0, 10), 7);
}

TEST(Curriculum, AnEpochHasItsShareOfTheItemsOnceInTheOrderOfItsSeed) {
  const auto sizes = rising_sizes(100);
  EpochPlan plan({.batch_tokens = 500, .seed = 3, .curriculum = 5});
  std::vector<Index> items;
  const BatchPlan& first = plan.of_epoch(0, sizes);
  for (Index i = 0; i < first.size(); ++i) {
    for (const Index item : first.batch(i)) items.push_back(item);
  }
  EXPECT_EQ(items.size(), 20u);
  EXPECT_FALSE(std::ranges::is_sorted(items));
  std::ranges::sort(items);
  EXPECT_EQ(items.back(), 19);
  EXPECT_EQ(std::ranges::adjacent_find(items), items.end());
  EpochPlan all({.batch_tokens = 500, .seed = 3});
  EXPECT_TRUE(
      std::ranges::equal(plan.of_epoch(5, sizes).batch(0), all.of_epoch(5, sizes).batch(0)));
}

}  // namespace
}  // namespace heed::data
