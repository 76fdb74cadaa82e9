// The KV cache of a whole stack of blocks, while it decodes step by step.
#pragma once

#include <span>
#include <vector>

#include "heed/core/spans.h"

namespace heed::nn {

class KeyValueCache;
struct CrossAttentionMemory;
struct KeysAndValues;

// Rows are sequences in progress: hypotheses of a beam, texts that are generated. With a memory,
// several rows may share one of its sequences, whose keys and values exist once.
class StackCache {
 public:
  StackCache(Index num_layers, Index num_rows);
  // With cross-attention. `memory`: each layer's keys and values of the whole memory. Row r attends
  // to sequence sequences[r].
  StackCache(std::vector<KeysAndValues> memory, std::vector<Index> sequences);

  StackCache(StackCache&&) noexcept;
  StackCache& operator=(StackCache&&) noexcept;
  ~StackCache();

  Index num_rows() const { return std::ssize(lengths_); }
  std::span<const Index> lengths() const { return lengths_; }      // tokens so far, of each row
  std::span<const Index> sequences() const { return sequences_; }  // of the memory, for each row

  // Row r becomes what row rows[r] was: rows are kept, repeated and dropped.
  void reorder(std::span<const Index> rows);

 private:
  friend class TransformerStack;
  // Cross-attention of these new tokens: sequence r of `added` belongs to row r.
  void align_memory(const Spans& added);
  void add_lengths(const Spans& added);

  std::vector<KeyValueCache> self_attention_;  // of each layer
  std::vector<Index> lengths_;
  std::vector<CrossAttentionMemory> memory_;  // of each layer; empty without cross-attention
  Spans memory_spans_;                        // one span per memory sequence
  std::vector<Index> sequences_;
};

}  // namespace heed::nn
