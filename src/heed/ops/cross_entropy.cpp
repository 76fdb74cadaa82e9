#include "heed/ops/cross_entropy.h"

#include <cmath>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/kernels/elementwise.h"
#include "heed/kernels/softmax.h"
#include "heed/ops/parallel_gemm.h"

namespace heed::ops {
namespace {

constexpr Index row_grain = 8;

void check_targets(const char* op, std::span<const int> targets, Index rows, Index classes,
                   std::optional<int> ignore) {
  check(static_cast<Index>(targets.size()) == rows, op, ": expected ", rows, " targets, got ",
        targets.size());
  for (const int target : targets) {
    check((target >= 0 && target < classes) || target == ignore, op, ": expected targets below ",
          classes, ", got ", target);
  }
}

// What each row counts: its class's weight, or 0 where it is ignored.
std::vector<float> row_weights(std::span<const int> targets, const CrossEntropyOptions& options) {
  std::vector<float> weights;
  for (const int target : targets) {
    const bool is_ignored = options.ignore == target;
    const float weight = options.class_weights.empty() || is_ignored
                             ? 1.0f
                             : options.class_weights[static_cast<std::size_t>(target)];
    weights.push_back(is_ignored ? 0.0f : weight);
  }
  return weights;
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, std::span<const int> targets,
                     const CrossEntropyOptions& options) {
  check(logits.rank() == 2 && logits.dim(1) > 0, "cross_entropy: expected logits [N, V], got ",
        logits.shape());
  const Index rows = logits.dim(0), classes = logits.dim(1);
  check_targets("cross_entropy", targets, rows, classes, options.ignore);
  check(
      options.class_weights.empty() || static_cast<Index>(options.class_weights.size()) == classes,
      "cross_entropy: expected ", classes, " class weights, got ", options.class_weights.size());
  check(options.class_weights.empty() || options.label_smoothing == 0,
        "cross_entropy: class weights and label smoothing do not go together");

  std::vector<float> weights = row_weights(targets, options);
  Tensor dlogits = logits.clone();
  std::vector<double> losses(static_cast<std::size_t>(rows), 0.0);
  parallel_ranges(rows, row_grain, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      float* z = dlogits.data() + row * classes;
      if (weights[row] == 0) {
        std::fill_n(z, classes, 0.0f);
        continue;
      }
      losses[row] =
          weights[row] *
          kernels::cross_entropy_row(z, classes, targets[row], options.label_smoothing).smoothed;
      kernels::scale(z, z, weights[row], classes);
    }
  });

  if (options.reduction == Reduction::none) {
    Tensor loss = Tensor::empty({rows});
    for (Index row = 0; row < rows; ++row) loss.data()[row] = static_cast<float>(losses[row]);
    return record(loss, {logits}, [dlogits, classes](const Tensor& dy) -> Gradients {
      Tensor dx = dlogits.clone();
      for (Index row = 0; row < dy.size(); ++row) {
        float* z = dx.data() + row * classes;
        kernels::scale(z, z, dy.data()[row], classes);
      }
      return {dx};
    });
  }
  double total = 0, total_weight = 0;
  for (Index row = 0; row < rows; ++row) total += losses[row], total_weight += weights[row];
  const double divisor = options.reduction == Reduction::mean ? total_weight : 1;
  return record(Tensor::full({}, static_cast<float>(total / divisor)), {logits},
                [dlogits, divisor](const Tensor& dy) -> Gradients {
                  Tensor dx = Tensor::empty(dlogits.shape());
                  const float factor = static_cast<float>(dy.item() / divisor);
                  parallel_ranges(dx.size(), 1 << 15, [&](Index begin, Index end) {
                    kernels::scale(dx.data() + begin, dlogits.data() + begin, factor, end - begin);
                  });
                  return {dx};
                });
}

namespace {

// Rows whose logits exist at one time. 256 rows of 10,000 logits are 10 MB: they stay in the
// last-level cache from the product that makes them to the two that use their gradient.
constexpr Index chunk_rows = 256;

// What one pass over all rows leaves: gradients for a loss of weight 1.
struct ProjectionPass {
  Tensor dx, dweight, dbias;
  double smoothed = 0, likelihood = 0;
};

ProjectionPass run_projection(const Tensor& x, const Tensor& weight, const Tensor& bias,
                              std::span<const int> targets, float smoothing, bool wants_gradients) {
  const Index rows = x.dim(0), dim = x.dim(1), classes = weight.dim(0);
  ProjectionPass pass;
  if (wants_gradients) {
    pass.dx = Tensor::empty(x.shape());
    pass.dweight = Tensor::zeros(weight.shape());
    if (bias.is_defined()) pass.dbias = Tensor::zeros(bias.shape());
  }
  Tensor chunk = Tensor::empty({std::min(chunk_rows, rows), classes});
  std::vector<kernels::RowLoss> losses(static_cast<std::size_t>(chunk_rows));

  for (Index first = 0; first < rows; first += chunk_rows) {
    const Index count = std::min(chunk_rows, rows - first);
    const float* x_rows = x.data() + first * dim;
    parallel_gemm(chunk.data(), classes, {x_rows, dim}, {weight.data(), dim, true}, count, classes,
                  dim, {.bias = bias.is_defined() ? bias.data() : nullptr});
    parallel_ranges(count, row_grain, [&](Index begin, Index end) {
      for (Index row = begin; row < end; ++row) {
        losses[row] = kernels::cross_entropy_row(chunk.data() + row * classes, classes,
                                                 targets[first + row], smoothing);
      }
    });
    for (Index row = 0; row < count; ++row) {
      pass.smoothed += losses[row].smoothed;
      pass.likelihood += losses[row].negative_log_likelihood;
    }
    if (!wants_gradients) continue;
    parallel_gemm(pass.dx.data() + first * dim, dim, {chunk.data(), classes}, {weight.data(), dim},
                  count, dim, classes);
    parallel_gemm(pass.dweight.data(), dim, {chunk.data(), classes, true}, {x_rows, dim}, classes,
                  dim, count, {.accumulate = true});
    if (bias.is_defined()) {
      for (Index row = 0; row < count; ++row) {
        kernels::add(pass.dbias.data(), pass.dbias.data(), chunk.data() + row * classes, classes);
      }
    }
  }
  return pass;
}

void scale_in_place(Tensor& x, float factor) {
  if (factor == 1) return;
  parallel_ranges(x.size(), 1 << 15, [&](Index begin, Index end) {
    kernels::scale(x.data() + begin, x.data() + begin, factor, end - begin);
  });
}

}  // namespace

ProjectionLoss projection_cross_entropy(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                        std::span<const int> targets, float label_smoothing) {
  check(x.rank() == 2 && weight.rank() == 2 && x.dim(1) == weight.dim(1),
        "projection_cross_entropy: expected x [N, D] and weight [V, D], got ", x.shape(), " and ",
        weight.shape());
  check(!bias.is_defined() || bias.shape() == Shape{weight.dim(0)},
        "projection_cross_entropy: expected bias [", weight.dim(0), "], got ", bias.shape());
  check_targets("projection_cross_entropy", targets, x.dim(0), weight.dim(0), std::nullopt);
  const bool wants_gradients =
      is_recording() && (x.needs_gradient() || weight.needs_gradient() || bias.needs_gradient());
  ProjectionPass pass = run_projection(x, weight, bias, targets, label_smoothing, wants_gradients);

  std::vector<Tensor> inputs{x, weight};
  if (bias.is_defined()) inputs.push_back(bias);
  Tensor loss = record(Tensor::full({}, static_cast<float>(pass.smoothed)), std::move(inputs),
                       [dx = pass.dx, dweight = pass.dweight,
                        dbias = pass.dbias](const Tensor& dy) mutable -> Gradients {
                         scale_in_place(dx, dy.item());
                         scale_in_place(dweight, dy.item());
                         if (!dbias.is_defined()) return {dx, dweight};
                         scale_in_place(dbias, dy.item());
                         return {dx, dweight, dbias};
                       });
  return {loss, pass.likelihood};
}

}  // namespace heed::ops
