#include "heed/train/machine_speed.h"

#include <algorithm>
#include <chrono>

#include "heed/base/random.h"
#include "heed/core/tensor.h"
#include "heed/ops/matmul.h"

namespace heed::train {

double matmul_speed() {
  using Clock = std::chrono::steady_clock;
  constexpr Index rows = 1024, width = 256;
  constexpr double operations = 2.0 * rows * width * width;
  constexpr auto time_to_measure = std::chrono::milliseconds(50);
  const NoGrad no_grad;
  Rng rng(1);
  const Tensor a = Tensor::randn({rows, width}, rng);
  const Tensor b = Tensor::randn({width, width}, rng);
  double best = 0;
  const auto begin = Clock::now();
  while (best == 0 || Clock::now() - begin < time_to_measure) {
    const auto start = Clock::now();
    ops::matmul(a, b);
    const std::chrono::duration<double> seconds = Clock::now() - start;
    best = std::max(best, operations / std::max(seconds.count(), 1e-9));
  }
  return best;
}

}  // namespace heed::train
