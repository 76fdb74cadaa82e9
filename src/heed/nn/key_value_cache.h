// The KV cache of one self-attention layer: keys and values of earlier tokens, for several rows
// (hypotheses), in pages.
#pragma once

#include <span>
#include <vector>

#include "heed/core/spans.h"
#include "heed/ops/attention.h"

namespace heed::nn {

// Keys [M, G * K] and values [M, G * K] of the same rows, with G key/value heads.
struct KeysAndValues {
  Packed keys;
  Tensor values;
  Index num_heads = 1;
};

// Keys and values of the memory for the cross-attention of one layer. The rows of span s of
// `queries` attend to sequence s of the keys.
struct CrossAttentionMemory {
  KeysAndValues keys_and_values;
  Spans queries;
};

// Rows are lists of pages; rows that have a past in common share its pages. A page that several
// rows share is copied when one of them is about to write to it: at most one page a row, and only
// if it is not full. Pages that no row names any more are used again; their memory grows by
// doubling. For decoding only: it has no gradient.
class KeyValueCache {
 public:
  explicit KeyValueCache(Index num_rows);
  KeyValueCache(KeyValueCache&&) = default;
  KeyValueCache& operator=(KeyValueCache&&) = default;
  // A copy would share the tensors that both then write to.
  KeyValueCache(const KeyValueCache&) = delete;
  KeyValueCache& operator=(const KeyValueCache&) = delete;

  // Appends sequence r of `fresh` to row r, and returns all of every row, one sequence per row:
  // valid until the next change.
  const ops::PagedKeys& append(const KeysAndValues& fresh);

  // Row r becomes what row rows[r] was. Rows that are not named are dropped, and may be named more
  // than once. Only lists change: no key or value is moved.
  void reorder(std::span<const Index> rows);

  std::span<const Index> lengths() const { return paged_.lengths; }
  Index num_pages() const { return std::ssize(users_) - std::ssize(free_pages_); }  // in use

 private:
  struct PageCopy {
    Index from, to, num_rows;
  };

  void reserve_pages(Index row, Index num_added, std::vector<PageCopy>& copies);
  Index take_page();
  void grow_storage(const KeysAndValues& fresh);
  void write(Index row, const KeysAndValues& fresh);

  ops::PagedKeys paged_;
  std::vector<Index> users_;       // of each page: how many rows name it
  std::vector<Index> free_pages_;  // those without users
};

}  // namespace heed::nn
