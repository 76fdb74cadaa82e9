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
  BorrowedWeights(Weights model, Weights other);
  ~BorrowedWeights();
  void swap();  // the model's own weights for the others, and back
  BorrowedWeights(const BorrowedWeights&) = delete;
  BorrowedWeights& operator=(const BorrowedWeights&) = delete;

 private:
  Weights model_;
  Weights own_;
  Weights other_;
  bool has_other_ = true;
};

}  // namespace heed::train
