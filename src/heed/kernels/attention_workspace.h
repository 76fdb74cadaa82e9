// Scratch memory of the attention kernels. Each workspace lays itself out, and so knows its size.
#pragma once

#include <algorithm>

#include "heed/kernels/attention.h"

namespace heed::kernels {

// Queries and keys whose scores are held at a time. Long rows make long sums, for which a micro-
// kernel is set up less often; queries are whole tiles of 6 rows. The scores stay in L1; in the
// backward, where both sides are summed over, in L2, and are computed in parts that L1 holds.
struct BlockSize {
  Index queries, keys;
};
constexpr BlockSize forward_block{24, attention_key_block};
constexpr BlockSize backward_block{96, 192};
constexpr Index backward_part = 24;  // queries

// Between rows of scores in the backward, which are read by columns too: an odd number of cache
// lines, so that a column does not fall on a few sets of the cache.
constexpr Index backward_stride = backward_block.keys + line_floats;

inline Index padded_width(Index width) { return round_up(width, 32); }

// Consecutive parts of a block of memory; without memory, only their size.
class MemoryParts {
 public:
  explicit MemoryParts(float* memory) : memory_(memory) {}

  float* take(Index count) {
    const Index begin = size_;
    size_ += count;
    return memory_ ? memory_ + begin : nullptr;
  }
  Index size() const { return size_; }

 private:
  float* memory_;
  Index size_ = 0;
};

struct ForwardWorkspace {
  ForwardWorkspace(float* memory, Index key_dim, Index value_dim)
      : parts(memory),
        scores(parts.take(forward_block.queries * forward_block.keys)),
        keys(parts.take(forward_block.keys * padded_width(key_dim))),
        values(parts.take(forward_block.keys * padded_width(value_dim))),
        mixed(parts.take(attention_max_queries * padded_width(value_dim))),
        queries(parts.take(attention_max_queries * padded_width(key_dim))),
        page_rows(parts.take(forward_block.keys * padded_width(std::max(key_dim, value_dim)))) {}

  MemoryParts parts;
  float *scores, *keys, *values, *mixed, *queries, *page_rows;
};

struct BackwardWorkspace {
  BackwardWorkspace(float* memory, Index key_dim, Index value_dim)
      : parts(memory),
        weights(parts.take(backward_block.queries * backward_stride)),
        dweights(parts.take(backward_block.queries * backward_stride)),
        key_columns(parts.take(backward_block.keys * padded_width(key_dim))),
        key_rows(parts.take(backward_block.keys * padded_width(key_dim))),
        value_columns(parts.take(backward_block.keys * padded_width(value_dim))),
        queries(parts.take(backward_block.queries * padded_width(key_dim))),
        doutputs(parts.take(backward_block.queries * padded_width(value_dim))),
        dkeys(parts.take(backward_block.keys * padded_width(key_dim))),
        dvalues(parts.take(backward_block.keys * padded_width(value_dim))) {}

  MemoryParts parts;
  float *weights, *dweights, *key_columns, *key_rows, *value_columns, *queries, *doutputs, *dkeys,
      *dvalues;
};

}  // namespace heed::kernels
