// The numbers 0 .. size-1 in a random order that is computed, not stored.
#pragma once

#include <cstdint>

#include "heed/base/random.h"

namespace heed::data {

// A Feistel network permutes the smallest even power of two that holds the range; a number that
// falls outside of it is permuted again until it falls inside, which keeps the map one to one.
class ShuffledRange {
 public:
  ShuffledRange(std::uint64_t size, std::uint64_t key) : size_(size), key_(key) {
    while (half_bits_ < 31 && (1ULL << (2 * half_bits_)) < size_) ++half_bits_;
  }

  std::uint64_t size() const { return size_; }

  // position < size()
  std::uint64_t operator[](std::uint64_t position) const {
    do position = permute(position);
    while (position >= size_);
    return position;
  }

 private:
  std::uint64_t permute(std::uint64_t x) const {
    const std::uint64_t mask = (1ULL << half_bits_) - 1;
    std::uint64_t left = x >> half_bits_, right = x & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
      const std::uint64_t mixed = left ^ (random_bits(key_, right * 4 + round) & mask);
      left = right;
      right = mixed;
    }
    return left << half_bits_ | right;
  }

  std::uint64_t size_, key_;
  int half_bits_ = 1;
};

}  // namespace heed::data
