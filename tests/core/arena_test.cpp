#include "heed/core/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "heed/base/random.h"

namespace heed {
namespace {

TEST(Arena, BlocksAreAlignedAndApart) {
  Arena arena;
  std::vector<std::pair<std::byte*, std::size_t>> blocks;
  for (const std::size_t bytes : {0, 1, 64, 65, 1000, 3 << 20, 40 << 20}) {
    blocks.emplace_back(static_cast<std::byte*>(arena.take(bytes)), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(blocks.back().first) % Arena::alignment, 0u);
    std::memset(blocks.back().first, 1, bytes);
  }
  std::sort(blocks.begin(), blocks.end());
  for (std::size_t i = 1; i < blocks.size(); ++i) {
    const auto [place, bytes] = blocks[i - 1];
    EXPECT_LT(place, blocks[i].first);
    EXPECT_LE(place + bytes, blocks[i].first);
  }
}

TEST(Arena, FreedNeighboursJoinInAnyOrder) {
  for (const auto& order :
       {std::vector<int>{0, 1, 2, 3}, {3, 2, 1, 0}, {0, 2, 1, 3}, {1, 3, 0, 2}}) {
    Arena arena;
    std::vector<void*> blocks;
    for (int i = 0; i < 4; ++i) blocks.push_back(arena.take(100));
    EXPECT_EQ(arena.num_free_blocks(), 1u);  // the rest of the region
    for (const int i : order) arena.give_back(blocks[static_cast<std::size_t>(i)], 100);
    EXPECT_EQ(arena.num_free_blocks(), 1u);
    EXPECT_EQ(arena.take(100), *std::min_element(blocks.begin(), blocks.end()));
  }
}

TEST(Arena, TakesTheSmallestGapThatFits) {
  Arena arena;
  void* large = arena.take(1000);
  void* between = arena.take(64);
  void* small = arena.take(200);
  void* last = arena.take(64);
  arena.give_back(large, 1000);
  arena.give_back(small, 200);
  EXPECT_EQ(arena.take(150), small);
  arena.give_back(between, 64);
  arena.give_back(last, 64);
}

TEST(Arena, WhatRepeatsComesBackToItsPlaces) {
  Arena arena;
  constexpr std::size_t half_a_region = 16 << 20;
  const auto places = [&] {  // of a result, its notes, and two gradients after its end
    void* result = arena.take(half_a_region);
    void* notes = arena.take(1000);
    arena.give_back(result, half_a_region);
    std::vector<void*> gradients;
    for (int i = 0; i < 3; ++i) gradients.push_back(arena.take(half_a_region));
    arena.give_back(notes, 1000);
    for (void* gradient : gradients) arena.give_back(gradient, half_a_region);
    gradients.push_back(result);
    return gradients;
  };
  const std::vector<void*> first = places();
  EXPECT_EQ(first.front(), first.back());
  EXPECT_EQ(places(), first);
  EXPECT_EQ(places(), first);
}

TEST(Arena, MixedSizesStayNearWhatIsInUse) {
  Arena arena;
  Rng rng(7);
  constexpr std::size_t megabyte = 1 << 20;
  for (int step = 0; step < 50; ++step) {  // as a training step does: many blocks, all freed
    const std::size_t scale = 3 * megabyte / 4 + rng.next() % (megabyte / 2);
    std::vector<std::pair<void*, std::size_t>> blocks;
    for (std::size_t i = 0; i < 100; ++i) {
      const std::size_t bytes = scale * (1 + i % 2);
      blocks.emplace_back(arena.take(bytes), bytes);
    }
    for (const auto& [block, bytes] : blocks) arena.give_back(block, bytes);
  }
  EXPECT_LE(arena.region_bytes(), 100 * 3 * megabyte / 2 * 5 / 4 * 11 / 10 + 32 * megabyte);
}

}  // namespace
}  // namespace heed
