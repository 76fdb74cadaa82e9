// The keys and values that attention has seen so far, for several rows (hypotheses): of one layer,
// and of a whole stack of them.
#pragma once

#include <span>
#include <vector>

#include "heed/nn/attention.h"

namespace heed::nn {

// Each row has a slot of `capacity` tokens, of which its length are in use. Capacity and slots grow
// by doubling. For decoding only: nothing of it is recorded.
class KeyValueCache {
 public:
  explicit KeyValueCache(Index num_rows);
  KeyValueCache(KeyValueCache&&) = default;
  KeyValueCache& operator=(KeyValueCache&&) = default;
  // A copy would share the tensors that both then write to.
  KeyValueCache(const KeyValueCache&) = delete;
  KeyValueCache& operator=(const KeyValueCache&) = delete;

  // Adds sequence r of `fresh` behind row r, and returns all of every row, one span per row.
  KeysAndValues append(const KeysAndValues& fresh);

  // Row r becomes what row rows[r] was. Rows that are not named are dropped; a row that is named
  // again is copied, once for each time beyond the first.
  void reorder(std::span<const Index> rows);

  std::span<const Index> lengths() const { return lengths_; }

 private:
  void reserve(Index num_slots, Index capacity);
  void copy_slot(Index from, Index to, Index length);

  Index capacity_ = 0;  // tokens in a slot
  Index num_slots_ = 0;
  Index width_ = 0;
  Tensor keys_;                 // [num_slots * capacity, width]
  Tensor values_;               // [num_slots * capacity, width]
  std::vector<Index> slots_;    // of each row
  std::vector<Index> lengths_;  // of each row
};

// What a stack of causal blocks remembers between its steps: one cache a layer.
class StackCache {
 public:
  StackCache(Index num_layers, Index num_rows);

  Index num_rows() const { return static_cast<Index>(lengths_.size()); }
  std::span<const Index> lengths() const { return lengths_; }  // tokens so far, of each row
  KeyValueCache& layer(std::size_t number) { return layers_[number]; }

  // Every layer has taken these tokens: sequence r is behind row r now.
  void advance(const Spans& added);
  void reorder(std::span<const Index> rows);  // as KeyValueCache::reorder

 private:
  std::vector<KeyValueCache> layers_;
  std::vector<Index> lengths_;
};

// Self-attention of tokens x [N, D] -> [N, D]. With a cache, x continues its rows, which had
// past[s] tokens, and is added to them; a query sees what the mask allows of both.
Tensor attend_to_itself(const MultiHeadAttention& attention, const Packed& x,
                        const ops::AttentionMask& mask, ForwardContext& context,
                        std::span<const Index> past, KeyValueCache* cache);

}  // namespace heed::nn
