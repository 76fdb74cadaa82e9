#include "heed/nn/attention.h"

#include <numbers>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/random.h"

namespace heed::nn {

MultiHeadAttention::MultiHeadAttention(std::string name, const MultiHeadAttentionOptions& options,
                                       Rng& rng)
    : name_(std::move(name)), options_(options) {
  if (options_.num_key_value_heads == 0) options_.num_key_value_heads = options_.num_heads;
  if (options_.similarity == ops::Similarity::cosine && !options_.scale) {
    options_.scale = default_cosine_scale;
  }
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
  return {{turned({k, memory.spans}, options_.num_key_value_heads, past), memory.spans}, v};
}

Tensor MultiHeadAttention::attend(const Packed& query, const KeysAndValues& memory,
                                  const ops::AttentionMask& mask, ForwardContext& context,
                                  std::span<const Index> past) const {
  const Packed turned_query = queries(query, past);
  if (AttentionGuide* guide = context.guide(name_)) {
    guide->loss = ops::alignment_loss(turned_query, memory.keys, guide->links,
                                      {.num_heads = options_.num_heads,
                                       .num_key_value_heads = options_.num_key_value_heads,
                                       .head = guide->head,
                                       .scale = options_.scale});
  }
  const Tensor mixed = ops::attention(turned_query, memory.keys, memory.values, mask,
                                      attention_options(context, past), context.watch(name_));
  return output_.forward(mixed);  // [N, D]
}

Tensor MultiHeadAttention::attend(const Packed& query, const ops::PagedKeys& memory,
                                  const ops::AttentionMask& mask, ForwardContext& context,
                                  std::span<const Index> past) const {
  const Tensor mixed = ops::attention(queries(query, past), memory, mask,
                                      attention_options(context, past), context.watch(name_));
  return output_.forward(mixed);  // [N, D]
}

// [N, D], heads side by side in D.
Packed MultiHeadAttention::queries(const Packed& x, std::span<const Index> past) const {
  const Tensor q = query_.forward(x.values);
  return {turned({q, x.spans}, options_.num_heads, past), x.spans};
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
  if (options_.positions == Positions::alibi) {
    options.alibi_slopes = ops::alibi_slopes(options_.num_heads);
  }
  return options;
}

// Each head's vectors turned by their positions, [N, H * K]; x itself unless positions are rotary.
Tensor MultiHeadAttention::turned(const Packed& x, Index num_heads,
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
