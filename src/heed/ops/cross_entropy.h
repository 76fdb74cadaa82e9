// Losses: how surprised a model is by the right answers.
#pragma once

#include <optional>
#include <span>

#include "heed/core/tensor.h"

namespace heed::ops {

enum class Reduction { none, mean, sum };

struct CrossEntropyOptions {
  float label_smoothing = 0;       // the share of the target spread evenly over all classes
  std::optional<int> ignore = {};  // targets of this value cost nothing
  std::span<const float> class_weights = {};  // [V] or empty; the mean divides by their sum
  Reduction reduction = Reduction::mean;
};

// logits [N, V], N targets -> [] or, without reduction, [N].
Tensor cross_entropy(const Tensor& logits, std::span<const int> targets,
                     const CrossEntropyOptions& options = {});

struct ProjectionLoss {
  Tensor loss;  // [], the sum over all tokens of the label-smoothed cross-entropy
  double negative_log_likelihood = 0;  // the sum of -log p(target), without smoothing
};

// Output projection and label-smoothed cross-entropy together, in pieces, so that the [N, V] logits
// never exist: x [N, D], weight [V, D], bias [V] or undefined, N targets. The gradients are formed
// in the same pass.
ProjectionLoss projection_cross_entropy(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                        std::span<const int> targets, float label_smoothing);

}  // namespace heed::ops
