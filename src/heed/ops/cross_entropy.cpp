#include "heed/ops/cross_entropy.h"

#include <cmath>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/kernels/elementwise.h"
#include "heed/kernels/softmax.h"

namespace heed::ops {
namespace {

constexpr Index row_grain = 8;

// The weight of each row: that of its class, or 0 where it is ignored.
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

// Every row's loss and its gradient by the logits, both times the row's weight.
struct RowLosses {
  std::vector<float> weights;  // [N]
  std::vector<double> losses;  // [N]
  Tensor dlogits;              // [N, V]
};

RowLosses row_losses(const Tensor& logits, std::span<const int> targets,
                     const CrossEntropyOptions& options) {
  const Index rows = logits.dim(0), classes = logits.dim(1);
  RowLosses result{row_weights(targets, options),
                   std::vector<double>(static_cast<std::size_t>(rows), 0.0), logits.clone()};
  parallel_ranges(rows, row_grain, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      float* z = result.dlogits.data() + row * classes;
      const float weight = result.weights[row];
      if (weight == 0) {
        std::fill_n(z, classes, 0.0f);
        continue;
      }
      result.losses[row] =
          weight *
          kernels::cross_entropy_row(z, classes, targets[row], options.label_smoothing).smoothed;
      kernels::scale(z, z, weight, classes);
    }
  });
  return result;
}

// The losses as they are, [N].
Tensor loss_per_row(const Tensor& logits, const RowLosses& rows) {
  Tensor loss = Tensor::empty({logits.dim(0)});
  for (Index row = 0; row < loss.size(); ++row) {
    loss.data()[row] = static_cast<float>(rows.losses[row]);
  }
  return record(loss, {logits}, [dlogits = rows.dlogits](const Tensor& dy) -> Gradients {
    const Index classes = dlogits.dim(1);
    Tensor dx = dlogits.clone();
    for (Index row = 0; row < dy.size(); ++row) {
      float* z = dx.data() + row * classes;
      kernels::scale(z, z, dy.data()[row], classes);
    }
    return {dx};
  });
}

// Their sum or their weighted mean, [].
Tensor reduce(const Tensor& logits, const RowLosses& rows, Reduction reduction) {
  double total = 0, total_weight = 0;
  for (const double loss : rows.losses) total += loss;
  for (const float weight : rows.weights) total_weight += weight;
  const double divisor = reduction == Reduction::mean ? total_weight : 1;
  return record(Tensor::full({}, static_cast<float>(total / divisor)), {logits},
                [dlogits = rows.dlogits, divisor](const Tensor& dy) -> Gradients {
                  Tensor dx = Tensor::empty(dlogits.shape());
                  const float factor = static_cast<float>(dy.item() / divisor);
                  parallel_ranges(dx.size(), 1 << 15, [&](Index begin, Index end) {
                    kernels::scale(dx.data() + begin, dlogits.data() + begin, factor, end - begin);
                  });
                  return {dx};
                });
}

}  // namespace

void check_targets(const char* op, std::span<const int> targets, Index rows, Index classes,
                   std::optional<int> ignore) {
  check(std::ssize(targets) == rows, op, ": expected ", rows, " targets, got ", targets.size());
  for (const int target : targets) {
    check((target >= 0 && target < classes) || target == ignore, op, ": expected targets below ",
          classes, ", got ", target);
  }
}

Tensor cross_entropy(const Tensor& logits, std::span<const int> targets,
                     const CrossEntropyOptions& options) {
  check(logits.rank() == 2 && logits.dim(1) > 0, "cross_entropy: expected logits [N, V], got ",
        logits.shape());
  const Index rows = logits.dim(0), classes = logits.dim(1);
  check_targets("cross_entropy", targets, rows, classes, options.ignore);
  check(options.class_weights.empty() || std::ssize(options.class_weights) == classes,
        "cross_entropy: expected ", classes, " class weights, got ", options.class_weights.size());
  check(options.class_weights.empty() || options.label_smoothing == 0,
        "cross_entropy: class weights and label smoothing do not go together");

  const RowLosses losses = row_losses(logits, targets, options);
  return options.reduction == Reduction::none ? loss_per_row(logits, losses)
                                              : reduce(logits, losses, options.reduction);
}

}  // namespace heed::ops
