#include "heed/ops/binary_cross_entropy.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/parallel.h"

namespace heed::ops {
namespace {

constexpr Index grain = 1 << 12;

// Neither e^-|x| nor its logarithm overflows, however large the logit is.
double sigmoid(double x) {
  const double small = std::exp(-std::abs(x));
  return x >= 0 ? 1 / (1 + small) : small / (1 + small);
}

double loss_of(double x, double y) {
  return std::max(x, 0.0) - x * y + std::log1p(std::exp(-std::abs(x)));
}

// out[i] = function(logits[i], targets[i])
template <typename Function>
Tensor over_elements(const Tensor& logits, const Tensor& targets, Function function) {
  Tensor out = Tensor::empty(logits.shape());
  const float *x = logits.data(), *y = targets.data();
  parallel_ranges(out.size(), grain, [&, result = out.data()](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) result[i] = static_cast<float>(function(i, x[i], y[i]));
  });
  return out;
}

}  // namespace

Tensor binary_cross_entropy(const Tensor& logits, const Tensor& targets) {
  check(logits.shape() == targets.shape(), "binary_cross_entropy: expected a target for each of ",
        logits.shape(), " logits, got ", targets.shape());
  check(std::ranges::all_of(targets.values(), [](float y) { return y >= 0 && y <= 1; }),
        "binary_cross_entropy: expected targets from 0 to 1, got others");

  const Tensor losses =
      over_elements(logits, targets, [](Index, double x, double y) { return loss_of(x, y); });

  // dx = dy (sigmoid(x) - y)
  return record(
      losses, {logits}, [x = logits.detach(), y = targets.detach()](const Tensor& dy) -> Gradients {
        return {over_elements(x, y, [d = dy.data()](Index i, double logit, double target) {
          return d[i] * (sigmoid(logit) - target);
        })};
      });
}

}  // namespace heed::ops
