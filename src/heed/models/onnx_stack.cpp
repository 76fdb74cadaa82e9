#include "heed/models/onnx_stack.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/nn/positions.h"
#include "heed/ops/embedding.h"

namespace heed::models {
namespace {

constexpr float masked_score = -1e9f;  // whose weight is 0 after the softmax

bool has_windows(const nn::TransformerOptions& options) {
  return std::ranges::any_of(options.windows, [](Index window) { return window > 0; });
}

bool needs_distances(const nn::TransformerOptions& options) {
  return has_windows(options) || options.relative_positions ||
         options.positions == Positions::alibi;
}

}  // namespace

OnnxStack::OnnxStack(OnnxLayers& layers, const nn::TransformerOptions& options)
    : layers_(layers), graph_(layers.graph()), options_(options) {
  check_as(ErrorKind::model, options_.similarity != ops::Similarity::cosine,
           "similarity: the ONNX export has dot and scaled_dot, found cosine");
  head_dim_ = options_.head_dim > 0 ? options_.head_dim : options_.model_dim / options_.num_heads;
  rotary_dim_ = options_.rotary.dim > 0 ? options_.rotary.dim : head_dim_;
}

OnnxValue OnnxStack::forward(OnnxValue x, const OnnxSequence& sequence) {
  x = add_positions(x, sequence);
  if (options_.has_embedding_norm) x = norm("encoder.embedding_norm", x);
  if (layers_.has("embedding_projection.weight")) x = layers_.linear("embedding_projection", x);
  prepare_scores(sequence);
  if (options_.positions == Positions::rotary) prepare_rotary(sequence);
  for (Index layer = 0; layer < options_.num_layers; ++layer) {
    const Index stored =
        layers_.has("encoder." + std::to_string(layer) + ".self_attention.query.weight")
            ? layer
            : 0;  // layers that share the weights of the first
    x = block("encoder." + std::to_string(stored) + '.', layer, x);
  }
  return options_.ends_with_norm() ? norm("encoder.norm", x) : x;
}

OnnxValue OnnxStack::norm(const std::string& name, const OnnxValue& x) {
  return layers_.norm(name, x, options_.norm());
}

OnnxValue OnnxStack::add_positions(const OnnxValue& x, const OnnxSequence& sequence) {
  OnnxValue table;
  const Index offset = options_.position_offset, rows = offset + sequence.max_positions;
  if (options_.positions == Positions::learned) {
    table = layers_.table("encoder.positions.weight");
  } else if (options_.positions == Positions::sinusoidal) {
    const Index dim = options_.position_embedding().dim;
    const Tensor sinusoids = nn::shared_sinusoidal_table(rows, dim, options_.sinusoid_order);
    table = graph_.weights("sinusoids", {rows, dim},
                           sinusoids.values().subspan(0, static_cast<std::size_t>(rows * dim)));
  } else {
    return x;
  }
  const OnnxValue row =
      offset == 0 ? sequence.positions : layers_.add(sequence.positions, graph_.integer(offset));
  return layers_.add(x, graph_.node("Gather", {table, row}));
}

// ---- What is added to scores

void OnnxStack::add_score_bias(OnnxValue& total, const OnnxValue& bias) {
  total = total.empty() ? bias : layers_.add(total, bias);
}

void OnnxStack::prepare_scores(const OnnxSequence& sequence) {
  if (!sequence.mask.empty()) {  // [B, S] -> [B, 1, 1, S]
    const OnnxValue padding = graph_.node("Sub", {graph_.real(1), sequence.mask});
    add_score_bias(score_bias_, layers_.unsqueeze(layers_.scale(padding, masked_score), {1, 2}));
  }
  if (!needs_distances(options_)) return;
  // Of places in the text: padding may stand between a begin token and the rest.
  distances_ = graph_.node("Sub", {layers_.unsqueeze(sequence.positions, {1}),
                                   layers_.unsqueeze(sequence.positions, {2})});  // [B, S, S]
  if (options_.relative_positions) add_score_bias(score_bias_, distance_bias());
  if (options_.positions == Positions::alibi) add_score_bias(score_bias_, alibi_bias());
}

// Keys less than `window` places away have none.
OnnxValue OnnxStack::window_bias(Index window) {
  const OnnxValue is_far = graph_.node(
      "Not", {graph_.node("Less", {graph_.node("Abs", {distances_}), graph_.integer(window)})});
  const OnnxValue bias = layers_.scale(layers_.cast(is_far, io::OnnxType::f32), masked_score);
  return layers_.unsqueeze(bias, {1});  // [B, 1, S, S]
}

// Learned numbers of each distance, which end at the largest: [B, S, S] -> [B, H, S, S].
OnnxValue OnnxStack::distance_bias() {
  const ops::RelativeBuckets& buckets = *options_.relative_positions;
  const Tensor by_distance =
      ops::gather_rows(layers_.parameter("encoder.relative_positions.weight").detach(),
                       ops::buckets_by_distance(buckets));  // [2 max + 1, H]
  const OnnxValue table = graph_.weights(
      "biases_by_distance", {by_distance.dim(0), by_distance.dim(1)}, by_distance.values());
  const Index most = buckets.max_distance;
  const OnnxValue near = graph_.node(
      "Max", {graph_.node("Min", {distances_, graph_.integer(most)}), graph_.integer(-most)});
  const OnnxValue row = layers_.add(near, graph_.integer(most));
  return layers_.transpose(graph_.node("Gather", {table, row}), {0, 3, 1, 2});
}

OnnxValue OnnxStack::alibi_bias() {
  std::vector<float> slopes = ops::alibi_slopes(options_.num_heads);
  for (float& slope : slopes) slope = -slope;
  const OnnxValue factors = graph_.weights("alibi_slopes", {options_.num_heads, 1, 1}, slopes);
  const OnnxValue far = layers_.cast(graph_.node("Abs", {distances_}), io::OnnxType::f32);
  return layers_.multiply(factors, layers_.unsqueeze(far, {1}));  // [B, H, S, S]
}

void OnnxStack::prepare_rotary(const OnnxSequence& sequence) {
  ops::RotaryFrequencies frequencies = options_.rotary;
  frequencies.dim = rotary_dim_;
  const Index rows = sequence.max_positions, half = rotary_dim_ / 2;
  const ops::RotaryTable table = nn::shared_rotary_table(rows, frequencies);
  const auto at_positions = [&](const char* name, const Tensor& values) {
    const OnnxValue constant = graph_.weights(
        name, {rows, half}, values.values().subspan(0, static_cast<std::size_t>(rows * half)));
    return layers_.unsqueeze(graph_.node("Gather", {constant, sequence.positions}), {2});
  };
  cos_ = at_positions("rotary_cos", table.cos);
  sin_ = at_positions("rotary_sin", table.sin);
}

// ---- Blocks

OnnxValue OnnxStack::block(const std::string& name, Index layer, const OnnxValue& x) {
  const std::string attention = name + "self_attention", feed = name + "feed_forward";
  if (options_.block_form != BlockForm::sequential) {
    const OnnxValue h = norm(attention + "_norm", x);
    const bool has_one = options_.block_form == BlockForm::parallel_one_norm;
    const OnnxValue fed = feed_forward(feed, has_one ? h : norm(feed + "_norm", x));
    return layers_.add(layers_.add(x, attend(attention, layer, h)), fed);
  }
  const auto residual = [&](const std::string& part, const OnnxValue& input, auto&& sub_layer) {
    const bool is_after = options_.norm_place == NormPlace::after;
    OnnxValue y = sub_layer(is_after ? input : norm(part + "_norm", input));
    if (options_.norm_place == NormPlace::around) y = norm(part + "_output_norm", y);
    const OnnxValue sum = layers_.add(input, y);
    return is_after ? norm(part + "_norm", sum) : sum;
  };
  const OnnxValue y =
      residual(attention, x, [&](const OnnxValue& h) { return attend(attention, layer, h); });
  return residual(feed, y, [&](const OnnxValue& h) { return feed_forward(feed, h); });
}

// [B, S, D] -> [B, S, H, K], with its norm and rotation.
OnnxValue OnnxStack::heads(const std::string& name, const OnnxValue& x, Index num_heads) {
  OnnxValue y = layers_.reshape(layers_.linear(name, x), {0, 0, num_heads, head_dim_});
  if (layers_.has(name + "_norm.gain")) y = norm(name + "_norm", y);
  return options_.positions == Positions::rotary ? rotate(y) : y;
}

OnnxValue OnnxStack::rotate(const OnnxValue& heads) {
  const Index half = rotary_dim_ / 2;
  const OnnxValue a = layers_.slice(heads, 3, 0, half);
  const OnnxValue b = layers_.slice(heads, 3, half, rotary_dim_);
  std::vector<OnnxValue> parts{
      graph_.node("Sub", {layers_.multiply(a, cos_), layers_.multiply(b, sin_)}),
      layers_.add(layers_.multiply(a, sin_), layers_.multiply(b, cos_))};
  if (rotary_dim_ < head_dim_) parts.push_back(layers_.slice(heads, 3, rotary_dim_, head_dim_));
  return layers_.concat(parts, 3);
}

OnnxValue OnnxStack::attend(const std::string& name, Index layer, const OnnxValue& x) {
  const Index num_heads = options_.num_heads;
  const Index num_key_value_heads = ops::num_key_value_heads(options_);
  const auto for_all_heads = [&](const OnnxValue& y) {  // on axis 1
    if (num_key_value_heads == num_heads) return y;
    std::vector<std::int64_t> groups;
    for (Index head = 0; head < num_heads; ++head) {
      groups.push_back(head / (num_heads / num_key_value_heads));
    }
    return graph_.node("Gather", {y, graph_.integers(groups)}, {{"axis", std::int64_t{1}}});
  };
  const OnnxValue q = layers_.transpose(heads(name + ".query", x, num_heads), {0, 2, 1, 3});
  const OnnxValue k =
      for_all_heads(layers_.transpose(heads(name + ".key", x, num_key_value_heads), {0, 2, 3, 1}));
  const OnnxValue v = for_all_heads(layers_.transpose(
      layers_.reshape(layers_.linear(name + ".value", x), {0, 0, num_key_value_heads, head_dim_}),
      {0, 2, 1, 3}));
  float scale =
      options_.attention_scale.value_or(ops::default_scale(options_.similarity, head_dim_));
  if (options_.has_layer_scale) scale /= static_cast<float>(layer + 1);
  OnnxValue scores = layers_.scale(graph_.node("MatMul", {q, k}), scale);  // [B, H, S, S]
  if (options_.attention_softcap > 0) {
    const float cap = options_.attention_softcap;
    scores = layers_.scale(graph_.node("Tanh", {layers_.scale(scores, 1 / cap)}), cap);
  }
  if (!score_bias_.empty()) scores = layers_.add(scores, score_bias_);
  const Index window = options_.self_attention_mask(layer).window;
  if (window > 0) scores = layers_.add(scores, window_bias(window));
  const OnnxValue weights = graph_.node("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
  const OnnxValue mixed = layers_.transpose(graph_.node("MatMul", {weights, v}), {0, 2, 1, 3});
  return layers_.linear(name + ".output", layers_.reshape(mixed, {0, 0, num_heads * head_dim_}));
}

OnnxValue OnnxStack::feed_forward(const std::string& name, const OnnxValue& x) {
  OnnxValue hidden = layers_.linear(name + ".hidden", x);
  if (layers_.has(name + ".gate.weight")) {
    const OnnxValue gate =
        layers_.activation(options_.activation, layers_.linear(name + ".gate", x));
    hidden = layers_.multiply(gate, hidden);
  } else {
    hidden = layers_.activation(options_.activation, hidden);
  }
  return layers_.linear(name + ".output", hidden);
}

}  // namespace heed::models
