// Cross-entropy as plain loops in double precision.
#pragma once

#include <cmath>
#include <span>

#include "heed/ops/cross_entropy.h"
#include "support/reference.h"

namespace heed::reference {

// The cost of one row: -log p of the target, a share of it replaced by the mean over all classes.
template <typename T>
T smoothed_cost(const Matrix<T>& log_probabilities, Index row, int target, double smoothing) {
  const Index classes = log_probabilities.cols;
  T cost(0.0);
  for (Index c = 0; c < classes; ++c) {
    const double share =
        (c == target ? 1 - smoothing : 0.0) + smoothing / static_cast<double>(classes);
    if (share != 0) cost += T(-share) * log_probabilities(row, c);
  }
  return cost;
}

// The mean divides by the sum of the targets' class weights; ignored targets count for nothing.
template <typename T>
Matrix<T> cross_entropy(const Matrix<T>& logits, std::span<const int> targets,
                        const ops::CrossEntropyOptions& options) {
  const Matrix<T> log_probabilities = log_softmax(logits);
  Matrix<T> costs(logits.rows, 1);
  double divisor = 0;
  for (Index i = 0; i < logits.rows; ++i) {
    if (options.ignore == targets[i]) continue;
    const double weight = options.class_weights.empty() ? 1.0 : options.class_weights[targets[i]];
    costs(i, 0) =
        T(weight) * smoothed_cost(log_probabilities, i, targets[i], options.label_smoothing);
    divisor += weight;
  }
  if (options.reduction == ops::Reduction::none) return costs;
  return scale(sum(costs), options.reduction == ops::Reduction::mean ? 1 / divisor : 1.0);
}

// -y log p - (1 - y) log(1 - p) with p = 1 / (1 + e^-x), for each element.
template <typename T>
Matrix<T> binary_cross_entropy(const Matrix<T>& logits, const Matrix<double>& targets) {
  using std::exp, std::log;
  Matrix<T> costs(logits.rows, logits.cols);
  for (Index row = 0; row < logits.rows; ++row) {
    for (Index col = 0; col < logits.cols; ++col) {
      const T p = T(1.0) / (T(1.0) + exp(-logits(row, col)));
      const double y = targets(row, col);
      costs(row, col) = T(-y) * log(p) + T(y - 1) * log(T(1.0) - p);
    }
  }
  return costs;
}

template <typename T>
Matrix<T> squared_error(const Matrix<T>& x, const Matrix<double>& targets) {
  Matrix<T> costs(x.rows, x.cols);
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    const T error = x.values[i] - T(targets.values[i]);
    costs.values[i] = error * error;
  }
  return costs;
}

// With a cap, of the logits c * tanh(logit / c).
template <typename T>
Matrix<T> projection_cross_entropy(const Matrix<T>& x, const Matrix<T>& weight,
                                   const Matrix<T>& bias, std::span<const int> targets,
                                   double smoothing, double cap = 0) {
  const Matrix<T> logits = linear(x, weight, bias);
  return cross_entropy(cap > 0 ? softcap(logits, cap) : logits, targets,
                       {.label_smoothing = static_cast<float>(smoothing),
                        .ignore = {},
                        .class_weights = {},
                        .reduction = ops::Reduction::sum});
}

}  // namespace heed::reference
