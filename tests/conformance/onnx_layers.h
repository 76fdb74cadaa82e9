// ONNX layers through our operations: norms, rotary positions, activations, softmax.
#pragma once

#include <cmath>

#include "conformance/onnx_case.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/norm.h"
#include "heed/ops/positions.h"
#include "heed/ops/softmax.h"

namespace heed::onnx {

// ---- Norms: over all axes from `axis` on

struct NormSizes {
  Index rows, cols;
  Sizes kept;  // the shape with 1 for every axis that was normalised away
};

inline NormSizes norm_sizes(const Array& x, Index axis_attribute) {
  const std::size_t axis = axis_of(axis_attribute, x.shape.size());
  NormSizes sizes{product(x.shape, 0, axis), product(x.shape, axis, x.shape.size()), x.shape};
  for (std::size_t i = axis; i < x.shape.size(); ++i) sizes.kept[i] = 1;
  return sizes;
}

// Scale or bias, broadcast to the normalised axes (the last ones of x).
inline Tensor norm_parameter(const Array& parameter, const Array& x, const NormSizes& sizes) {
  std::vector<float> values;
  for (Index col = 0; col < sizes.cols; ++col) {
    Index rest = col, at = 0, stride = 1;
    for (std::size_t back = 1; back <= parameter.shape.size(); ++back) {
      const Index size = parameter.shape[parameter.shape.size() - back];
      const Index x_size = x.shape[x.shape.size() - back];
      check(size == 1 || size == x_size, "a scale or bias does not fit the normalised axes");
      at += size == 1 ? 0 : rest % x_size * stride;
      stride *= size;
      rest /= x_size;
    }
    values.push_back(static_cast<float>(parameter.data[at]));
  }
  return Tensor::from(values, {sizes.cols});
}

// Statistics are computed in single precision: stash_type 1, the only one there is.
inline void check_stash_type(Case& c) {
  const int stash_type = c.attributes.get<int>("stash_type", 1);
  check(stash_type == 1, c.op, ": stash_type: expected 1, found ", stash_type);
}

inline Results run_layer_normalization(Case& c) {
  c.check_inputs_at_most(3);
  check_stash_type(c);
  const Array& x = c.input(0);
  const NormSizes sizes = norm_sizes(x, c.attributes.get<Index>("axis", -1));
  const float epsilon = c.attributes.get<float>("epsilon", 1e-5f);
  const Array* bias = c.optional_input(2);
  const Tensor y =
      ops::layer_norm(x.matrix(sizes.rows, sizes.cols), norm_parameter(c.input(1), x, sizes),
                      bias ? norm_parameter(*bias, x, sizes) : Tensor(), epsilon);

  Array mean{sizes.kept, {}}, inverse_deviation{sizes.kept, {}};
  for (Index row = 0; row < sizes.rows; ++row) {
    const double* values = x.data.data() + row * sizes.cols;
    double sum = 0, squares = 0;
    for (Index col = 0; col < sizes.cols; ++col) sum += values[col];
    const double middle = sum / static_cast<double>(sizes.cols);
    for (Index col = 0; col < sizes.cols; ++col) {
      squares += (values[col] - middle) * (values[col] - middle);
    }
    mean.data.push_back(middle);
    inverse_deviation.data.push_back(
        1 / std::sqrt(squares / static_cast<double>(sizes.cols) + epsilon));
  }
  return {array_of(y, x.shape), mean, inverse_deviation};
}

inline Results run_rms_normalization(Case& c) {
  c.check_inputs_at_most(2);
  check_stash_type(c);
  const Array& x = c.input(0);
  const NormSizes sizes = norm_sizes(x, c.attributes.get<Index>("axis", -1));
  const Tensor y =
      ops::rms_norm(x.matrix(sizes.rows, sizes.cols), norm_parameter(c.input(1), x, sizes),
                    c.attributes.get<float>("epsilon", 1e-5f));
  return {array_of(y, x.shape)};
}

// ---- Rotary positions

// The caches are [positions, pairs] with position_ids, and [batch, length, pairs] without: then
// every token has a row of its own.
inline Results run_rotary_embedding(Case& c) {
  c.check_inputs_at_most(4);
  const Array& x = c.input(0);
  const Index heads_attribute = c.attributes.get<Index>("num_heads", 0);
  const bool is_rank_4 = x.shape.size() == 4;  // [batch, heads, length, width]
  check(is_rank_4 || (x.shape.size() == 3 && heads_attribute > 0),
        "RotaryEmbedding: expected rank 4, or rank 3 and num_heads");
  const Array tokens = is_rank_4 ? transposed(x, {0, 2, 1, 3}) : x;  // [batch, length, ...]
  const Index num_tokens = tokens.shape[0] * tokens.shape[1];
  const Array &cos = c.input(1), &sin = c.input(2);
  const Index pairs = cos.shape.back();
  const ops::RotaryTable table{cos.matrix(product(cos.shape) / pairs, pairs),
                               sin.matrix(product(sin.shape) / pairs, pairs)};
  std::vector<Index> positions;
  const Array* ids = c.optional_input(3);
  for (Index token = 0; token < num_tokens; ++token) {
    positions.push_back(ids ? static_cast<Index>(ids->data[token]) : token);
  }
  const ops::RotaryOptions options{.num_heads = is_rank_4 ? x.shape[1] : heads_attribute,
                                   .rotary_dim = c.attributes.get<Index>("rotary_embedding_dim", 0),
                                   .pairs = c.attributes.get<int>("interleaved", 0) != 0
                                                ? ops::RotaryPairs::interleaved
                                                : ops::RotaryPairs::halves};
  const Tensor y = ops::rotary(tokens.matrix(num_tokens, product(tokens.shape) / num_tokens), table,
                               positions, options);
  const Array turned = array_of(y, tokens.shape);
  return {is_rank_4 ? transposed(turned, {0, 2, 1, 3}) : turned};
}

// ---- Activations

inline Tensor flat(const Array& x) { return Tensor::from(x.floats(), {product(x.shape)}); }

inline Results run_gelu(Case& c) {
  c.check_inputs_at_most(1);
  const auto form = c.attributes.get<std::string>("approximate", "none");
  check(form == "none" || form == "tanh", "Gelu: approximate: unknown value ", form);
  const Tensor y =
      ops::gelu(flat(c.input(0)), form == "tanh" ? ops::GeluForm::tanh : ops::GeluForm::exact);
  return {array_of(y, c.input(0).shape)};
}

// a * sigmoid(alpha a) * b = silu(alpha a) * b / alpha, and a * b / 2 for alpha = 0.
inline Results run_swiglu(Case& c) {
  c.check_inputs_at_most(2);
  const Tensor a = flat(c.input(0)), b = flat(c.input(1));
  const float alpha = c.attributes.get<float>("alpha", 1);
  const Tensor y = alpha == 0 ? ops::scale(ops::multiply(a, b), 0.5f)
                              : ops::scale(ops::swiglu(ops::scale(a, alpha), b), 1 / alpha);
  return {array_of(y, c.input(0).shape)};
}

// ---- Softmax along one axis

// The axes in order, but `axis` last.
inline std::vector<std::size_t> with_axis_last(std::size_t axis, std::size_t rank) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < rank; ++i) {
    if (i != axis) order.push_back(i);
  }
  order.push_back(axis);
  return order;
}

inline std::vector<std::size_t> inverse(const std::vector<std::size_t>& order) {
  std::vector<std::size_t> inverse(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) inverse[order[i]] = i;
  return inverse;
}

inline Array along_axis(const Array& x, Index axis, Tensor (*function)(const Tensor&)) {
  const auto order = with_axis_last(axis_of(axis, x.shape.size()), x.shape.size());
  const Array rows = transposed(x, order);
  const Index cols = rows.shape.back();
  const Tensor y = function(rows.matrix(product(rows.shape) / cols, cols));
  return transposed(array_of(y, rows.shape), inverse(order));
}

inline Results run_softmax(Case& c, Tensor (*function)(const Tensor&)) {
  c.check_inputs_at_most(1);
  return {along_axis(c.input(0), c.attributes.get<Index>("axis", -1), function)};
}

}  // namespace heed::onnx
