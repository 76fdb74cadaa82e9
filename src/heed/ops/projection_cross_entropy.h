// Output projection and cross-entropy in one function.
#pragma once

#include <span>

#include "heed/core/tensor.h"
#include "heed/ops/packed_matrix.h"

namespace heed::ops {

struct ProjectionLoss {
  Tensor loss;  // [], the sum over all tokens of the label-smoothed cross-entropy
  double negative_log_likelihood = 0;  // the sum of -log p(target), without smoothing
};

// Output projection and label-smoothed cross-entropy together, in pieces, so that the [N, V] logits
// never exist: x [N, D], weight [V, D], bias [V] or undefined, N targets. With softcap > 0 the
// logits are those of ops::softcap. The gradients are formed in the same pass.
ProjectionLoss projection_cross_entropy(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                        std::span<const int> targets, float label_smoothing,
                                        float softcap = 0);
// The same for a packed weight, outside the autograd graph.
ProjectionLoss projection_cross_entropy(const Tensor& x, const PackedMatrix& weight,
                                        const Tensor& bias, std::span<const int> targets,
                                        float label_smoothing, float softcap = 0);

}  // namespace heed::ops
