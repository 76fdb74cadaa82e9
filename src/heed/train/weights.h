// All weights of a model at one moment: copied out, put back, averaged.
#pragma once

#include <vector>

#include "heed/nn/module.h"

namespace heed::train {

using Weights = std::vector<nn::NamedTensor>;

// A copy with its own values.
Weights copy_weights(const Weights& weights);
// Overwrites the values of `to`, which has the same names and shapes.
void assign_weights(Weights& to, const Weights& from);

// While one of these lives, the model has other weights; then its own come back.
class BorrowedWeights {
 public:
  BorrowedWeights(Weights model, const Weights& other);
  ~BorrowedWeights();
  BorrowedWeights(const BorrowedWeights&) = delete;
  BorrowedWeights& operator=(const BorrowedWeights&) = delete;

 private:
  Weights model_;
  Weights own_;
};

}  // namespace heed::train
