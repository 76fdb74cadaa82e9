// Exponential moving average (EMA) of a model's weights.
#pragma once

#include "heed/train/weights.h"

namespace heed::train {

// After each update, average = d average + (1 - d) weights. The decay d is `decay` in the long run
// and smaller at first, (1 + t) / (10 + t), so that the random initial weights soon lose influence.
class MovingAverage {
 public:
  MovingAverage(const Weights& weights, double decay);

  void update(const Weights& weights, Index num_updates);
  Weights& weights() { return average_; }
  const Weights& weights() const { return average_; }

 private:
  Weights average_;
  double decay_;
};

}  // namespace heed::train
