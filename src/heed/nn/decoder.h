// The decoder: blocks of masked self-attention, cross-attention and feed-forward; and its state
// when it runs one token at a time.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/nn/block_options.h"
#include "heed/nn/key_value_cache.h"
#include "heed/nn/stack_ends.h"

namespace heed::nn {

// The keys and values that cross-attention looks at, and who looks: the rows of span s of `readers`
// at sequence s of the keys.
struct MemoryView {
  KeysAndValues seen;
  Spans readers;
};

// What stepwise decoding remembers. Its rows are hypotheses; several may share one memory sequence,
// whose keys and values exist once.
class DecoderState {
 public:
  // `memory`: each layer's keys and values of the whole memory. Row r looks at sequence
  // sequences[r].
  DecoderState(std::vector<KeysAndValues> memory, std::vector<Index> sequences);

  Index num_rows() const { return static_cast<Index>(sequences_.size()); }
  std::span<const Index> sequences() const { return sequences_; }         // of each row
  std::span<const Index> lengths() const { return own_keys_.lengths(); }  // tokens so far

  // Row r becomes what row rows[r] was: hypotheses are kept, repeated and dropped.
  void reorder(std::span<const Index> rows);

 private:
  friend class Decoder;
  void point_rows_at_memory();

  std::vector<MemoryView> memory_;  // of each layer; neighbours of one sequence look together
  Spans memory_spans_;              // one span per memory sequence
  std::vector<Index> sequences_;
  StackCache own_keys_;  // of self-attention
};

class DecoderBlock {
 public:
  DecoderBlock(const std::string& name, const BlockOptions& options, Rng& rng);

  // x [N, D], the memory's keys and values from memory_keys -> [N, D]. With a cache, x continues
  // its rows after past[s] tokens, and is added to them.
  Tensor forward(const Packed& x, const MemoryView& memory, ForwardContext& context,
                 std::span<const Index> past = {}, KeyValueCache* cache = nullptr) const;
  KeysAndValues memory_keys(const Packed& memory) const;
  void visit_parameters(ParameterVisitor& visitor);

 private:
  std::string name_;
  ResidualOptions residual_;
  MultiHeadAttention self_attention_;
  Norm self_attention_norm_;
  MultiHeadAttention cross_attention_;
  Norm cross_attention_norm_;
  FeedForward feed_forward_;
  Norm feed_forward_norm_;
};

class Decoder {
 public:
  Decoder() = default;
  // Attention layers are called NAME.0.self_attention, NAME.0.cross_attention, ...
  Decoder(const std::string& name, const BlockOptions& options, Rng& rng);

  // Embedded tokens [N, D] of whole sequences, memory [M, D] -> [N, D].
  Tensor forward(const Packed& x, const Packed& memory, ForwardContext& context) const;

  // One token at a time. Sequence s of the memory begins with rows_per_sequence[s] equal rows.
  DecoderState start(const Packed& memory, std::span<const Index> rows_per_sequence) const;
  // x [rows, D], the next token of each row -> [rows, D]: the same bits as that row of forward.
  Tensor step(const Tensor& x, DecoderState& state, ForwardContext& context) const;

  void visit_parameters(ParameterVisitor& visitor);

 private:
  StackEnds ends_;
  std::vector<DecoderBlock> blocks_;
};

}  // namespace heed::nn
