// Add & norm around every sub-layer of a Transformer block.
#pragma once

#include "heed/nn/forward_context.h"
#include "heed/nn/norm.h"
#include "heed/ops/elementwise.h"

namespace heed::nn {

struct ResidualOptions {
  NormPlace norm_place = NormPlace::after;
  float dropout = 0;  // on the sub-layer's output
};

// norm before: x + dropout(sub_layer(norm(x)));  norm after: norm(x + dropout(sub_layer(x))).
// Norms around a sub-layer are one before it, and one that is a part of it, at its end.
// x [N, D], sub_layer a function [N, D] -> [N, D].
template <typename SubLayer>
Tensor residual(const Tensor& x, const Norm& norm, const ResidualOptions& options,
                ForwardContext& context, SubLayer&& sub_layer) {
  const bool is_after = options.norm_place == NormPlace::after;
  const Tensor y = sub_layer(is_after ? x : norm.forward(x));
  const Tensor sum = ops::add_dropout(x, y, context.dropout(options.dropout));
  return is_after ? norm.forward(sum) : sum;
}

}  // namespace heed::nn
