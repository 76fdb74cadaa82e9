// A hash table from pairs of ids: a plain array of slots, because looking pairs up is what the time
// of a tokenizer depends on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "heed/base/random.h"

namespace heed::text {

template <typename Value>
class PairTable {
 public:
  // The value of a pair that is there already is replaced. Neither id is negative.
  void add(int left, int right, Value value) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[slot_of(pair_of(left, right))];
    if (slot.pair == free) ++size_;
    slot = {pair_of(left, right), std::move(value)};
  }

  // Null when there is no such pair.
  const Value* find(int left, int right) const {
    const Slot& slot = slots_[slot_of(pair_of(left, right))];
    return slot.pair == free ? nullptr : &slot.value;
  }

 private:
  static constexpr std::uint64_t free = ~std::uint64_t{0};  // no pair

  struct Slot {
    std::uint64_t pair = free;
    Value value{};
  };

  static std::uint64_t pair_of(int left, int right) {
    return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right);
  }

  // Where the pair is, or the free place where it belongs.
  std::size_t slot_of(std::uint64_t pair) const {
    std::size_t slot = mix_bits(pair);
    while (true) {
      slot &= slots_.size() - 1;
      if (slots_[slot].pair == pair || slots_[slot].pair == free) return slot;
      ++slot;
    }
  }

  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (Slot& slot : old) {
      if (slot.pair != free) slots_[slot_of(slot.pair)] = std::move(slot);
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(16);  // a power of two, at most half of them taken
  std::size_t size_ = 0;
};

struct Merge {
  std::uint32_t rank;  // the lowest comes first
  int id;              // of what the two make together
};

// Which pairs of neighbours can be merged.
using MergeTable = PairTable<Merge>;

}  // namespace heed::text
