// A stack of Transformer blocks as plain template code: what nn::TransformerStack must equal, for
// whole sequences without a memory.
#pragma once

#include <cmath>
#include <map>
#include <string>

#include "heed/nn/transformer_block.h"
#include "support/gradient_check.h"
#include "support/reference.h"
#include "support/reference_attention.h"

namespace heed::reference {

// A stack's parameters by name, and the choices that say what to do with them.
template <typename T>
class StackReference {
 public:
  using Parameters = std::map<std::string, Matrix<T>>;

  StackReference(const nn::TransformerOptions& options, const Parameters& parameters)
      : options_(options), parameters_(parameters) {}

  // Embedded tokens [N, D] -> [N, D].
  Matrix<T> forward(const Matrix<T>& x, const Spans& spans) const {
    Matrix<T> y = embed(x, spans);
    if (has("embedding_norm.gain")) y = norm("embedding_norm", y);
    if (options_.embedding_dim > 0) y = linear("embedding_projection", y);
    for (Index layer = 0; layer < options_.num_layers; ++layer) y = block(layer, y, spans);
    return has("norm.gain") ? norm("norm", y) : y;
  }

 private:
  bool has(const std::string& name) const { return parameters_.contains(name); }
  // Empty if the stack has no such parameter.
  Matrix<T> parameter(const std::string& name) const {
    return has(name) ? parameters_.at(name) : Matrix<T>();
  }

  // Shared layers have the parameters of the first.
  std::string name_of(Index layer) const {
    return std::to_string(options_.has_shared_layers ? 0 : layer);
  }

  Matrix<T> linear(const std::string& name, const Matrix<T>& x) const {
    return reference::linear(x, parameter(name + ".weight"), parameter(name + ".bias"));
  }

  Matrix<T> norm(const std::string& name, const Matrix<T>& x) const {
    Matrix<T> gain = parameter(name + ".gain");
    if (options_.has_norm_unit_offset) gain = map(gain, [](const T& g) { return g + T(1.0); });
    if (options_.norm_kind == nn::NormKind::rms) return rms_norm(x, gain, options_.norm_epsilon);
    return layer_norm(x, gain, parameter(name + ".bias"), options_.norm_epsilon);
  }

  // Positions in the table, by the offset.
  Matrix<T> embed(const Matrix<T>& x, const Spans& spans) const {
    const std::vector<Index> first_rows(spans.count(), options_.position_offset);
    if (options_.positions == nn::Positions::learned) {
      return add_positions(x, parameter("positions.weight"), spans, first_rows);
    }
    return x;
  }

  Matrix<T> block(Index layer, const Matrix<T>& x, const Spans& spans) const {
    const std::string name = name_of(layer);
    const auto attend = [&](const Matrix<T>& h) { return attention(layer, h, spans); };
    const auto feed = [&](const Matrix<T>& h) { return feed_forward(name + ".feed_forward", h); };
    if (options_.block_form == nn::BlockForm::sequential) {
      const Matrix<T> y = residual(name + ".self_attention", x, attend);
      return residual(name + ".feed_forward", y, feed);
    }
    const bool has_one_norm = options_.block_form == nn::BlockForm::parallel_one_norm;
    const Matrix<T> h = norm(name + ".self_attention_norm", x);
    return add(x, add(attend(h), feed(has_one_norm ? h : norm(name + ".feed_forward_norm", x))));
  }

  // x + f(norm(x)), norm(x + f(x)), or x + output_norm(f(norm(x))).
  template <typename SubLayer>
  Matrix<T> residual(const std::string& name, const Matrix<T>& x, SubLayer&& f) const {
    if (options_.norm_place == nn::NormPlace::after) return norm(name + "_norm", add(x, f(x)));
    const Matrix<T> y = f(norm(name + "_norm", x));
    const bool is_around = options_.norm_place == nn::NormPlace::around;
    return add(x, is_around ? norm(name + "_output_norm", y) : y);
  }

  Matrix<T> attention(Index layer, const Matrix<T>& x, const Spans& spans) const {
    const std::string name = name_of(layer) + ".self_attention.";
    AttentionProblem problem{spans, spans};
    problem.mask.causal = options_.is_causal;
    if (!options_.windows.empty()) problem.mask.window = options_.windows[layer];
    problem.options.scale = options_.attention_scale;
    if (options_.has_layer_scale) {
      const Index width = parameter(name + "query.weight").rows / options_.num_heads;
      const float whole = options_.attention_scale.value_or(
          static_cast<float>(1 / std::sqrt(static_cast<double>(width))));
      problem.options.scale = whole / static_cast<float>(layer + 1);
    }
    problem.options.softcap = options_.attention_softcap;
    problem.options.num_heads = options_.num_heads;
    problem.options.num_key_value_heads = options_.num_key_value_heads;
    const Index num_key_value_heads = ops::num_key_value_heads(options_);
    const Matrix<T> raw_q = norm_heads(name + "query_norm", linear(name + "query", x));
    const Matrix<T> raw_k = norm_heads(name + "key_norm", linear(name + "key", x));
    const Matrix<T> q = rotate(raw_q, spans, options_.num_heads);
    const Matrix<T> k = rotate(raw_k, spans, num_key_value_heads);
    const Matrix<T> v = linear(name + "value", x);
    return linear(name + "output", reference::attention(q, k, v, problem, distance_bias()));
  }

  // The table's row of every distance; empty without a table.
  Matrix<T> distance_bias() const {
    if (!options_.relative_positions) return {};
    const std::vector<Index> buckets = ops::buckets_by_distance(*options_.relative_positions);
    return gather_rows(parameter("relative_positions.weight"), std::span(buckets));
  }

  // Every head's vector is a row of the norm.
  Matrix<T> norm_heads(const std::string& name, const Matrix<T>& x) const {
    if (!has(name + ".gain")) return x;
    const Index width = std::ssize(parameter(name + ".gain").values);
    Matrix<T> heads(x.rows * x.cols / width, width), y(x.rows, x.cols);
    heads.values = x.values;
    y.values = norm(name, heads).values;
    return y;
  }

  // RoPE, by the tables that tests of ops compare with their formulas.
  Matrix<T> rotate(const Matrix<T>& x, const Spans& spans, Index num_heads) const {
    if (options_.positions != nn::Positions::rotary) return x;
    ops::RotaryFrequencies frequencies = options_.rotary;
    if (frequencies.dim == 0) frequencies.dim = x.cols / num_heads;
    const ops::RotaryTable table = ops::rotary_table(spans.max_length(), frequencies);
    return rotary(x, matrix_of(table.cos), matrix_of(table.sin), ops::token_positions(spans),
                  {.num_heads = num_heads, .rotary_dim = frequencies.dim});
  }

  Matrix<T> feed_forward(const std::string& name, const Matrix<T>& x) const {
    const Matrix<T> hidden = linear(name + ".hidden", x);
    if (!has(name + ".gate.weight")) return linear(name + ".output", activate(hidden));
    return linear(name + ".output", multiply(activate(linear(name + ".gate", x)), hidden));
  }

  Matrix<T> activate(const Matrix<T>& x) const {
    switch (options_.activation) {
      case nn::Activation::relu:
        return relu(x);
      case nn::Activation::gelu:
        return gelu(x, ops::GeluForm::exact);
      case nn::Activation::gelu_tanh:
        return gelu(x, ops::GeluForm::tanh);
      case nn::Activation::quick_gelu:
        return quick_gelu(x);
      default:
        return silu(x);
    }
  }

  nn::TransformerOptions options_;
  const Parameters& parameters_;
};

}  // namespace heed::reference
