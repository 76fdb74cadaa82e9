#include "heed/train/averaging.h"

#include <algorithm>

#include "heed/base/parallel.h"
#include "heed/kernels/adam.h"

namespace heed::train {
namespace {

constexpr Index piece_size = 32768;

}  // namespace

MovingAverage::MovingAverage(const Weights& weights, double decay)
    : average_(copy_weights(weights)), decay_(decay) {}

void MovingAverage::update(const Weights& weights, Index num_updates) {
  const auto t = static_cast<double>(num_updates);
  const auto keep = static_cast<float>(std::min(decay_, (1 + t) / (10 + t)));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    float* average = average_[i].value.data();
    const Tensor& weight = weights[i].value;
    parallel_ranges(weight.size(), piece_size, [&](Index begin, Index end) {
      kernels::move_average(average + begin, weight.data() + begin, end - begin, keep);
    });
  }
}

}  // namespace heed::train
