#include "heed/nn/transformer_stack.h"

#include <utility>

#include "heed/base/error.h"
#include "heed/nn/key_value_cache.h"

namespace heed::nn {

TransformerStack::TransformerStack(const std::string& name, const TransformerOptions& options,
                                   const Initializer& initializer)
    : name_(name), options_(options), positions_(options.position_embedding(), initializer) {
  if (options.relative_positions) {
    relative_positions_ =
        RelativePositionBias(*options.relative_positions, options.num_heads, initializer);
  }
  const Index num_own = options.has_shared_layers ? 1 : options.num_layers;
  for (Index layer = 0; layer < num_own; ++layer) {
    blocks_.emplace_back(name, layer, options, initializer);
  }
  share_first_block();
  const auto norm = [&](Index dim) { return Norm(options.norm(), dim, initializer); };
  if (options.has_embedding_norm) embedding_norm_ = norm(options.embedding_width());
  if (options.ends_with_norm()) norm_ = norm(options.model_dim);
  if (options.embedding_dim > 0) {
    embedding_projection_ = Linear(options.embedding_dim, options.model_dim, initializer);
  }
}

void TransformerStack::share_first_block() {
  if (!options_.has_shared_layers) return;
  blocks_.erase(blocks_.begin() + 1, blocks_.end());
  for (Index layer = 1; layer < options_.num_layers; ++layer) {
    blocks_.push_back(blocks_.front().as_layer(name_, layer, options_));
  }
}

Tensor TransformerStack::forward(const Packed& x, ForwardContext& context) const {
  check(!options_.has_cross_attention, name_, ": expected a memory for cross-attention, got none");
  Tensor y = embed(x, context);
  const BlockInputs inputs{.distance_bias = relative_positions_.by_distance()};
  for (const TransformerBlock& block : blocks_) y = block.forward({y, x.spans}, inputs, context);
  return final_norm(y, context);
}

Tensor TransformerStack::forward(const Packed& x, const Packed& memory,
                                 ForwardContext& context) const {
  check(x.spans.count() == memory.spans.count(), name_, ": expected a memory of ", x.spans.count(),
        " sequences, got ", memory.spans.count());
  Tensor y = embed(x, context);
  BlockInputs inputs{.distance_bias = relative_positions_.by_distance()};
  for (const TransformerBlock& block : blocks_) {
    const CrossAttentionMemory keys{block.memory_keys_and_values(memory), x.spans};
    inputs.memory = &keys;
    y = block.forward({y, x.spans}, inputs, context);
  }
  return final_norm(y, context);
}

StackCache TransformerStack::start(Index num_rows) const {
  check(options_.is_causal && !options_.has_cross_attention, name_,
        ": expected a causal stack without cross-attention");
  return StackCache(std::ssize(blocks_), num_rows);
}

StackCache TransformerStack::start(const Packed& memory,
                                   std::span<const Index> rows_per_sequence) const {
  const NoGrad no_grad;
  check(options_.is_causal && options_.has_cross_attention, name_,
        ": expected a causal stack with cross-attention");
  check(std::ssize(rows_per_sequence) == memory.spans.count(), name_, ": expected rows for ",
        memory.spans.count(), " sequences, got ", rows_per_sequence.size());
  std::vector<Index> sequences;
  for (std::size_t s = 0; s < rows_per_sequence.size(); ++s) {
    sequences.insert(sequences.end(), rows_per_sequence[s], static_cast<Index>(s));
  }
  std::vector<KeysAndValues> keys;
  for (const TransformerBlock& block : blocks_) {
    keys.push_back(block.memory_keys_and_values(memory));
  }
  return StackCache(std::move(keys), std::move(sequences));
}

Tensor TransformerStack::step(const Packed& x, StackCache& cache, ForwardContext& context) const {
  const NoGrad no_grad;
  check(x.spans.count() == cache.num_rows(), name_, ": expected tokens for each of ",
        cache.num_rows(), " rows, got ", x.spans.count(), " sequences");
  cache.align_memory(x.spans);
  Tensor y = embed(x, context, cache.lengths());
  BlockInputs inputs{.past = cache.lengths(), .distance_bias = relative_positions_.by_distance()};
  for (std::size_t layer = 0; layer < blocks_.size(); ++layer) {
    inputs.memory = cache.memory_.empty() ? nullptr : &cache.memory_[layer];
    inputs.cache = &cache.self_attention_[layer];
    y = blocks_[layer].forward({y, x.spans}, inputs, context);
  }
  cache.add_lengths(x.spans);
  return final_norm(y, context);
}

Tensor TransformerStack::embed(const Packed& x, ForwardContext& context,
                               std::span<const Index> past) const {
  const Tensor words = context.words(name_, x.values);
  context.see(name_, "words", words);
  Tensor y = positions_.forward({words, x.spans}, past);
  if (options_.has_embedding_norm) y = embedding_norm_.forward(y);
  y = ops::dropout(y, context.dropout(options_.dropout));
  if (options_.embedding_dim > 0) y = embedding_projection_.forward(y);
  context.see(name_, "embedded", y);
  return y;
}

Tensor TransformerStack::final_norm(const Tensor& x, ForwardContext& context) const {
  const Tensor y = options_.ends_with_norm() ? norm_.forward(x) : x;
  context.see(name_, "final", y);
  return y;
}

void TransformerStack::visit_parameters(ParameterVisitor& visitor) {
  visitor.child("positions", positions_);
  if (options_.relative_positions) visitor.child("relative_positions", relative_positions_);
  if (options_.has_embedding_norm) visitor.child("embedding_norm", embedding_norm_);
  const std::size_t num_own = options_.has_shared_layers ? 1 : blocks_.size();
  for (std::size_t layer = 0; layer < num_own; ++layer) {
    visitor.child(std::to_string(layer), blocks_[layer]);
  }
  share_first_block();
  if (options_.ends_with_norm()) visitor.child("norm", norm_);
}

}  // namespace heed::nn
