// Cross-entropy of logits and target classes.
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

// Refuses a number of targets other than `rows`, and targets that are no class and not ignored.
void check_targets(const char* op, std::span<const int> targets, Index rows, Index classes,
                   std::optional<int> ignore);

}  // namespace heed::ops
