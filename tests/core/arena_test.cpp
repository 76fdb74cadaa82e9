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
    blocks.emplace_back(static_cast<std::byte*>(arena.allocate(bytes)), bytes);
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

TEST(Arena, FreedNeighboursCoalesceInAnyOrder) {
  for (const auto& order :
       {std::vector<int>{0, 1, 2, 3}, {3, 2, 1, 0}, {0, 2, 1, 3}, {1, 3, 0, 2}}) {
    Arena arena;
    std::vector<void*> blocks;
    for (int i = 0; i < 4; ++i) blocks.push_back(arena.allocate(100));
    for (const int i : order) arena.free(blocks[static_cast<std::size_t>(i)], 100);
    const std::size_t region = arena.region_bytes();
    EXPECT_EQ(arena.allocate(region), *std::min_element(blocks.begin(), blocks.end()));
    EXPECT_EQ(arena.region_bytes(), region);  // all of it was one free block again
  }
}

TEST(Arena, AllocatesTheSmallestFreeBlockThatFits) {
  Arena arena;
  void* large = arena.allocate(1000);
  void* between = arena.allocate(64);
  void* small = arena.allocate(200);
  void* last = arena.allocate(64);
  arena.free(large, 1000);
  arena.free(small, 200);
  EXPECT_EQ(arena.allocate(150), small);
  arena.free(between, 64);
  arena.free(last, 64);
}

TEST(Arena, ARepeatedStepGetsTheSameAddresses) {
  Arena arena;
  constexpr std::size_t half_a_region = 16 << 20;
  const auto places = [&] {  // of a result, its notes, and two gradients after its end
    void* result = arena.allocate(half_a_region);
    void* notes = arena.allocate(1000);
    arena.free(result, half_a_region);
    std::vector<void*> gradients;
    for (int i = 0; i < 3; ++i) gradients.push_back(arena.allocate(half_a_region));
    arena.free(notes, 1000);
    for (void* gradient : gradients) arena.free(gradient, half_a_region);
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
      blocks.emplace_back(arena.allocate(bytes), bytes);
    }
    for (const auto& [block, bytes] : blocks) arena.free(block, bytes);
  }
  EXPECT_LE(arena.region_bytes(), 100 * 3 * megabyte / 2 * 5 / 4 * 11 / 10 + 32 * megabyte);
}

}  // namespace
}  // namespace heed
