#include "heed/nn/attention.h"

#include <numbers>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/nn/similarity_scale.h"

namespace heed::nn {
namespace {

std::vector<Index> lengths_of(const Spans& spans) {
  std::vector<Index> lengths;
  for (const Span& span : spans) lengths.push_back(span.length);
  return lengths;
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(std::string name, const MultiHeadAttentionOptions& options,
                                       Rng& rng)
    : name_(std::move(name)), options_(options) {
  if (options_.num_key_value_heads == 0) options_.num_key_value_heads = options_.num_heads;
  if (!options_.scale) options_.scale = default_scale(options_.similarity);
  check(options_.num_heads > 0 && options_.model_dim % options_.num_heads == 0, name_,
        ": expected heads that divide the width ", options_.model_dim, ", got ",
        options_.num_heads);
  head_dim_ = options_.model_dim / options_.num_heads;

  // The three that lead to the scores start smaller, as if they were one matrix [D, 3 D].
  constexpr float gain = 1 / std::numbers::sqrt2_v<float>;
  const Index key_dim = options_.num_key_value_heads * head_dim_;
  query_ = Linear(options_.model_dim, options_.model_dim, rng, gain);
  key_ = Linear(options_.model_dim, key_dim, rng, gain);
  value_ = Linear(options_.model_dim, key_dim, rng, gain);
  output_ = Linear(options_.model_dim, options_.model_dim, rng);
}

Tensor MultiHeadAttention::forward(const Packed& query, const Packed& memory,
                                   const ops::AttentionMask& mask, ForwardContext& context) const {
  return attend(query, keys_and_values(memory), mask, context);
}

KeysAndValues MultiHeadAttention::keys_and_values(const Packed& memory,
                                                  std::span<const Index> past) const {
  const Tensor k = key_.forward(memory.values);    // [M, G * K], heads side by side
  const Tensor v = value_.forward(memory.values);  // [M, G * K]
  const Index num_heads = options_.num_key_value_heads;
  return {{apply_rotary({k, memory.spans}, num_heads, past), memory.spans}, v, num_heads};
}

Tensor MultiHeadAttention::attend(const Packed& query, const KeysAndValues& memory,
                                  const ops::AttentionMask& mask, ForwardContext& context,
                                  std::span<const Index> past,
                                  std::span<const Index> positions) const {
  const Packed q = queries(query, context, past);
  context.see(name_, "keys", memory.keys.values);
  context.see(name_, "values", memory.values);
  if (AttentionGuide* guide = context.guide(name_)) {
    guide->loss = ops::alignment_loss(q, memory.keys, guide->links,
                                      {.num_heads = options_.num_heads,
                                       .num_key_value_heads = options_.num_key_value_heads,
                                       .head = guide->head,
                                       .scale = options_.scale});
  }
  const auto call = call_of(query.spans, lengths_of(memory.keys.spans), context, past, positions);
  const Tensor heads =
      ops::attention(q, memory.keys, memory.values, call ? context.hook()->mask(*call, mask) : mask,
                     attention_options(context, past), context.watch(name_));
  return project_heads(heads, call, context);
}

Tensor MultiHeadAttention::attend(const Packed& query, const ops::PagedKeys& memory,
                                  const ops::AttentionMask& mask, ForwardContext& context,
                                  std::span<const Index> past) const {
  const auto call = call_of(query.spans, memory.lengths, context, past);
  const Tensor heads = ops::attention(queries(query, context, past), memory,
                                      call ? context.hook()->mask(*call, mask) : mask,
                                      attention_options(context, past), context.watch(name_));
  return project_heads(heads, call, context);
}

// [N, D], heads side by side in D.
Packed MultiHeadAttention::queries(const Packed& x, ForwardContext& context,
                                   std::span<const Index> past) const {
  context.see(name_, "input", x.values);
  const Tensor q = apply_rotary({query_.forward(x.values), x.spans}, options_.num_heads, past);
  context.see(name_, "queries", q);
  return {q, x.spans};
}

std::optional<AttentionCall> MultiHeadAttention::call_of(const Spans& queries,
                                                         std::vector<Index> key_lengths,
                                                         const ForwardContext& context,
                                                         std::span<const Index> past,
                                                         std::span<const Index> positions) const {
  if (!context.hook()) return std::nullopt;
  AttentionCall call{name_, options_.num_heads, queries, {}, std::move(key_lengths)};
  call.positions = positions.empty() ? ops::token_positions(queries, past)
                                     : std::vector<Index>(positions.begin(), positions.end());
  return call;
}

Tensor MultiHeadAttention::project_heads(const Tensor& heads,
                                         const std::optional<AttentionCall>& call,
                                         ForwardContext& context) const {
  const Tensor mixed = call ? context.hook()->heads(*call, heads) : heads;
  context.see(name_, "mixed", mixed);
  const Tensor output = output_.forward(mixed);
  context.see(name_, "output", output);
  return output;
}

ops::AttentionOptions MultiHeadAttention::attention_options(ForwardContext& context,
                                                            std::span<const Index> past) const {
  ops::AttentionOptions options{.num_heads = options_.num_heads,
                                .num_key_value_heads = options_.num_key_value_heads,
                                .similarity = options_.similarity,
                                .scale = options_.scale,
                                .softcap = options_.softcap,
                                .alibi_slopes = {},
                                .past = {past.begin(), past.end()},
                                .dropout = context.dropout(options_.dropout)};
  const auto swapped = context.hook() ? context.hook()->similarity() : std::nullopt;
  if (swapped && *swapped != options_.similarity) {
    options.similarity = *swapped;
    options.scale = default_scale(*swapped);
  }
  if (options_.positions == Positions::alibi) {
    options.alibi_slopes = ops::alibi_slopes(options_.num_heads);
  }
  return options;
}

// RoPE: each head's vectors rotated by their positions, [N, H * K]; x itself unless positions are
// rotary.
Tensor MultiHeadAttention::apply_rotary(const Packed& x, Index num_heads,
                                        std::span<const Index> past) const {
  if (options_.positions != Positions::rotary) return x.values;
  const ops::RotaryTable table = shared_rotary_table(num_positions(x.spans, past), head_dim_);
  return ops::rotary(x.values, table, ops::token_positions(x.spans, past),
                     {.num_heads = num_heads, .rotary_dim = head_dim_});
}

void MultiHeadAttention::visit_parameters(ParameterVisitor& visitor) {
  visitor.child("query", query_);
  visitor.child("key", key_);
  visitor.child("value", value_);
  visitor.child("output", output_);
}

}  // namespace heed::nn
