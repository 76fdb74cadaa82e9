// The keys and values that attention has seen so far, for several rows (hypotheses): of one layer,
// and of a whole stack of them.
#pragma once

#include <span>
#include <vector>

#include "heed/nn/attention.h"

namespace heed::nn {

// Rows are lists of pages; rows that have a past in common share its pages. A page that several
// rows share is copied when one of them is about to write to it: at most one page a row, and only
// if it is not full. Pages that no row names any more are used again; their memory grows by
// doubling. For decoding only: nothing of it is recorded.
class KeyValueCache {
 public:
  explicit KeyValueCache(Index num_rows);
  KeyValueCache(KeyValueCache&&) = default;
  KeyValueCache& operator=(KeyValueCache&&) = default;
  // A copy would share the tensors that both then write to.
  KeyValueCache(const KeyValueCache&) = delete;
  KeyValueCache& operator=(const KeyValueCache&) = delete;

  // Adds sequence r of `fresh` behind row r, and returns all of every row, one sequence per row:
  // good until the next change.
  const ops::PagedKeys& append(const KeysAndValues& fresh);

  // Row r becomes what row rows[r] was. Rows that are not named are dropped, and may be named more
  // than once. Only lists change: no key or value is moved.
  void reorder(std::span<const Index> rows);

  std::span<const Index> lengths() const { return held_.lengths; }
  Index num_pages() const { return std::ssize(users_) - std::ssize(free_pages_); }  // in use

 private:
  struct PageCopy {
    Index from, to, num_rows;
  };

  void make_room(Index row, Index num_added, std::vector<PageCopy>& copies);
  Index take_page();
  void grow_storage(const KeysAndValues& fresh);
  void write(Index row, const KeysAndValues& fresh);

  ops::PagedKeys held_;
  std::vector<Index> users_;       // of each page: how many rows name it
  std::vector<Index> free_pages_;  // those without users
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
