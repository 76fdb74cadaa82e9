#include "heed/nn/decoder.h"

#include <utility>

#include "heed/base/error.h"
#include "heed/base/random.h"

namespace heed::nn {

DecoderState::DecoderState(std::vector<KeysAndValues> memory, std::vector<Index> sequences)
    : sequences_(std::move(sequences)),
      own_keys_(static_cast<Index>(memory.size()), static_cast<Index>(sequences_.size())) {
  for (KeysAndValues& layer : memory) {
    memory_spans_ = layer.keys.spans;
    memory_.push_back({std::move(layer), {}});
  }
  point_rows_at_memory();
}

void DecoderState::reorder(std::span<const Index> rows) {
  own_keys_.reorder(rows);
  std::vector<Index> sequences;
  for (const Index row : rows) sequences.push_back(sequences_.at(row));
  sequences_ = std::move(sequences);
  point_rows_at_memory();
}

// Neighbouring rows of one sequence are queries of one attention problem: its keys are loaded once.
void DecoderState::point_rows_at_memory() {
  std::vector<Span> readers, keys;
  for (Index row = 0; row < num_rows(); ++row) {
    if (row == 0 || sequences_[row] != sequences_[row - 1]) {
      readers.push_back({row, 0});
      keys.push_back(memory_spans_[sequences_[row]]);
    }
    ++readers.back().length;
  }
  const Spans shared_readers(std::move(readers)), shared_keys(std::move(keys));
  for (MemoryView& layer : memory_) {
    layer.readers = shared_readers;
    layer.seen.keys.spans = shared_keys;
  }
}

DecoderBlock::DecoderBlock(const std::string& name, const BlockOptions& options, Rng& rng)
    : name_(name),
      residual_(options.residual()),
      self_attention_(name + ".self_attention", options.self_attention(), rng),
      self_attention_norm_(options.norm_kind, options.model_dim),
      cross_attention_(name + ".cross_attention", options.cross_attention(), rng),
      cross_attention_norm_(options.norm_kind, options.model_dim),
      feed_forward_(options.feed_forward(), rng),
      feed_forward_norm_(options.norm_kind, options.model_dim) {}

Tensor DecoderBlock::forward(const Packed& x, const MemoryView& memory, ForwardContext& context,
                             std::span<const Index> past, KeyValueCache* cache) const {
  const Tensor self_attended =
      residual(x.values, self_attention_norm_, residual_, context, [&](const Tensor& values) {
        return attend_to_itself(self_attention_, {values, x.spans},
                                ops::AttentionMask::causal_mask(), context, past, cache);
      });
  context.see(name_, "after_self_attention", self_attended);
  // Readers of one memory may be hypotheses, which stand at the same position of their rows.
  std::vector<Index> positions;
  if (context.hook()) positions = ops::token_positions(x.spans, past);
  const Tensor cross_attended =
      residual(self_attended, cross_attention_norm_, residual_, context, [&](const Tensor& values) {
        return cross_attention_.attend({values, memory.readers}, memory.seen,
                                       ops::AttentionMask::none(), context, {}, positions);
      });
  context.see(name_, "after_cross_attention", cross_attended);
  const Tensor fed =
      residual(cross_attended, feed_forward_norm_, residual_, context,
               [&](const Tensor& values) { return feed_forward_.forward(values, context); });
  context.see(name_, "after_feed_forward", fed);
  return fed;
}

KeysAndValues DecoderBlock::memory_keys(const Packed& memory) const {
  return cross_attention_.keys_and_values(memory);
}

void DecoderBlock::visit_parameters(ParameterVisitor& visitor) {
  visitor.child("self_attention", self_attention_);
  visitor.child("self_attention_norm", self_attention_norm_);
  visitor.child("cross_attention", cross_attention_);
  visitor.child("cross_attention_norm", cross_attention_norm_);
  visitor.child("feed_forward", feed_forward_);
  visitor.child("feed_forward_norm", feed_forward_norm_);
}

Decoder::Decoder(const std::string& name, const BlockOptions& options, Rng& rng)
    : ends_(name, options, rng) {
  for (Index layer = 0; layer < options.num_layers; ++layer) {
    blocks_.emplace_back(name + '.' + std::to_string(layer), options, rng);
  }
}

Tensor Decoder::forward(const Packed& x, const Packed& memory, ForwardContext& context) const {
  check(x.spans.count() == memory.spans.count(), "decoder: expected a memory of ", x.spans.count(),
        " sequences, got ", memory.spans.count());
  Tensor y = ends_.embedded(x, context);
  for (const DecoderBlock& block : blocks_) {
    y = block.forward({y, x.spans}, {block.memory_keys(memory), x.spans}, context);
  }
  return ends_.finished(y, context);
}

DecoderState Decoder::start(const Packed& memory, std::span<const Index> rows_per_sequence) const {
  const NoGrad no_grad;
  check(static_cast<Index>(rows_per_sequence.size()) == memory.spans.count(),
        "decoder: expected rows for ", memory.spans.count(), " sequences, got ",
        rows_per_sequence.size());
  std::vector<Index> sequences;
  for (std::size_t s = 0; s < rows_per_sequence.size(); ++s) {
    sequences.insert(sequences.end(), rows_per_sequence[s], static_cast<Index>(s));
  }
  std::vector<KeysAndValues> keys;
  for (const DecoderBlock& block : blocks_) keys.push_back(block.memory_keys(memory));
  return DecoderState(std::move(keys), std::move(sequences));
}

Tensor Decoder::step(const Tensor& x, DecoderState& state, ForwardContext& context) const {
  const NoGrad no_grad;
  check(x.rank() == 2 && x.dim(0) == state.num_rows(), "decoder: expected one token for each of ",
        state.num_rows(), " rows, got ", x.shape());
  const std::vector<Index> ones(state.num_rows(), 1);
  const Spans spans = Spans::of_lengths(ones);
  const std::span<const Index> past = state.lengths();
  Tensor y = ends_.embedded({x, spans}, context, past);
  for (std::size_t layer = 0; layer < blocks_.size(); ++layer) {
    y = blocks_[layer].forward({y, spans}, state.memory_[layer], context, past,
                               &state.own_keys_.layer(layer));
  }
  state.own_keys_.advance(spans);
  return ends_.finished(y, context);
}

void Decoder::visit_parameters(ParameterVisitor& visitor) {
  ends_.visit_first(visitor);
  for (std::size_t layer = 0; layer < blocks_.size(); ++layer) {
    visitor.child(std::to_string(layer), blocks_[layer]);
  }
  ends_.visit_last(visitor);
}

}  // namespace heed::nn
