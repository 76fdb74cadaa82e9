#include "heed/nn/attention.h"

#include <algorithm>
#include <numbers>
#include <utility>

#include "heed/base/error.h"
#include "heed/nn/key_value_cache.h"
#include "heed/nn/similarity_scale.h"
#include "heed/ops/elementwise.h"

namespace heed::nn {

MultiHeadAttention::MultiHeadAttention(std::string name, const MultiHeadAttentionOptions& options,
                                       const Initializer& initializer)
    : name_(std::move(name)), options_(options) {
  options_.num_key_value_heads = ops::num_key_value_heads(options);
  const Index dim = options_.model_dim;
  check(options_.num_heads > 0 && (options_.head_dim > 0 || dim % options_.num_heads == 0), name_,
        ": expected heads that divide the width ", dim, ", got ", options_.num_heads);
  if (options_.head_dim == 0) options_.head_dim = dim / options_.num_heads;
  if (options_.rotary.dim == 0) options_.rotary.dim = options_.head_dim;

  // The first three start smaller, as if they were one matrix [D, 3 D].
  const LinearOptions smaller{.gain = 1 / std::numbers::sqrt2_v<float>,
                              .has_bias = options_.bias == AttentionBias::query_key_value ||
                                          options_.bias == AttentionBias::all};
  const Index query_dim = options_.num_heads * options_.head_dim;
  const Index key_dim = options_.num_key_value_heads * options_.head_dim;
  query_ = Linear(dim, query_dim, initializer, smaller);
  key_ = Linear(dim, key_dim, initializer, smaller);
  value_ = Linear(dim, key_dim, initializer, smaller);
  const bool has_output_bias =
      options_.bias == AttentionBias::output || options_.bias == AttentionBias::all;
  output_ = Linear(query_dim, dim, initializer, {.has_bias = has_output_bias});
  if (!options_.query_key_norm) return;
  query_norm_ = Norm(*options_.query_key_norm, options_.head_dim, initializer);
  key_norm_ = Norm(*options_.query_key_norm, options_.head_dim, initializer);
}

void MultiHeadAttention::set_layer(std::string name, std::optional<float> scale) {
  name_ = std::move(name);
  options_.scale = scale;
}

Tensor MultiHeadAttention::forward(const Packed& query, const Packed& memory,
                                   const ops::AttentionMask& mask, ForwardContext& context) const {
  return attend(query, keys_and_values(memory), mask, context);
}

Tensor MultiHeadAttention::self_attend(const Packed& x, const ops::AttentionMask& mask,
                                       ForwardContext& context, std::span<const Index> past,
                                       KeyValueCache* cache) const {
  const KeysAndValues fresh = keys_and_values(x, past);
  if (!cache) return attend(x, fresh, mask, context, past);
  const ops::PagedKeys& cached = cache->append(fresh);
  // Without a past, the fresh keys are all keys, and contiguous.
  const bool has_past = std::ranges::any_of(past, [](Index length) { return length > 0; });
  return has_past ? attend(x, cached, mask, context, past) : attend(x, fresh, mask, context, past);
}

KeysAndValues MultiHeadAttention::keys_and_values(const Packed& memory,
                                                  std::span<const Index> past) const {
  const Tensor k = norm_heads(key_.forward(memory.values), key_norm_);  // [M, G * K], side by side
  const Tensor v = value_.forward(memory.values);                       // [M, G * K]
  const Index num_heads = options_.num_key_value_heads;
  return {{apply_rotary({k, memory.spans}, num_heads, past), memory.spans}, v, num_heads};
}

// softmax(q k^T) v in every head, and the output matrix.
Tensor MultiHeadAttention::attend(const Packed& query, const KeysAndValues& memory,
                                  const ops::AttentionMask& mask, ForwardContext& context,
                                  std::span<const Index> past,
                                  std::span<const Index> positions) const {
  const AttentionHook& hook = context.hook();
  const AttentionCall call{name_, options_.num_heads, query.spans, memory.keys.spans, {},
                           past,  positions};
  const ops::AttentionOptions options = attention_options(context, past);
  const Packed q = project_queries(query, context, past);  // [N, H * K], heads side by side
  context.see(name_, "keys", memory.keys.values);
  context.see(name_, "values", memory.values);
  hook.see(call, q, memory.keys, options);
  const Tensor heads = ops::attention(q, memory.keys, memory.values, hook.mask(call, mask), options,
                                      context.watch(name_));  // [N, H * K]
  return project_output(heads, call, context);
}

Tensor MultiHeadAttention::attend(const Packed& query, const ops::PagedKeys& memory,
                                  const ops::AttentionMask& mask, ForwardContext& context,
                                  std::span<const Index> past) const {
  const AttentionCall call{name_, options_.num_heads, query.spans, {}, memory.lengths, past, {}};
  const ops::AttentionOptions options = attention_options(context, past);
  const Tensor heads = ops::attention(project_queries(query, context, past), memory,
                                      context.hook().mask(call, mask), options,
                                      context.watch(name_));  // [N, H * K]
  return project_output(heads, call, context);
}

Packed MultiHeadAttention::project_queries(const Packed& x, ForwardContext& context,
                                           std::span<const Index> past) const {
  context.see(name_, "input", x.values);
  const Tensor projected = norm_heads(query_.forward(x.values), query_norm_);
  const Tensor q = apply_rotary({projected, x.spans}, options_.num_heads, past);
  context.see(name_, "queries", q);
  return {q, x.spans};
}

Tensor MultiHeadAttention::project_output(const Tensor& heads, const AttentionCall& call,
                                          ForwardContext& context) const {
  const Tensor mixed = context.hook().heads(call, heads);
  context.see(name_, "mixed", mixed);
  const Tensor output = output_.forward(mixed);
  context.see(name_, "output", output);
  return output;
}

// Every head's vector normalised by itself, [N, H * K]; x itself without a norm.
Tensor MultiHeadAttention::norm_heads(const Tensor& x, const Norm& norm) const {
  if (!options_.query_key_norm) return x;
  const Tensor heads = ops::reshape(x, {x.size() / options_.head_dim, options_.head_dim});
  return ops::reshape(norm.forward(heads), x.shape());
}

// RoPE: each head's vectors rotated by their positions, [N, H * K]; x itself unless positions are
// rotary.
Tensor MultiHeadAttention::apply_rotary(const Packed& x, Index num_heads,
                                        std::span<const Index> past) const {
  if (options_.positions != Positions::rotary) return x.values;
  const ops::RotaryTable table = shared_rotary_table(num_positions(x.spans, past), options_.rotary);
  return ops::rotary(x.values, table, ops::token_positions(x.spans, past),
                     {.num_heads = num_heads, .rotary_dim = options_.rotary.dim});
}

ops::AttentionOptions MultiHeadAttention::attention_options(ForwardContext& context,
                                                            std::span<const Index> past) const {
  const auto similarity = context.hook().similarity().value_or(options_.similarity);
  ops::AttentionOptions options{.num_heads = options_.num_heads,
                                .num_key_value_heads = options_.num_key_value_heads,
                                .similarity = similarity,
                                .scale = similarity_scale(options_, similarity),
                                .softcap = options_.softcap,
                                .alibi_slopes = {},
                                .past = {past.begin(), past.end()},
                                .dropout = context.dropout(options_.dropout)};
  if (options_.positions == Positions::alibi) {
    options.alibi_slopes = ops::alibi_slopes(options_.num_heads);
  }
  return options;
}

void MultiHeadAttention::visit_parameters(ParameterVisitor& visitor) {
  visitor.child("query", query_);
  visitor.child("key", key_);
  visitor.child("value", value_);
  visitor.child("output", output_);
  if (!options_.query_key_norm) return;
  visitor.child("query_norm", query_norm_);
  visitor.child("key_norm", key_norm_);
}

}  // namespace heed::nn
