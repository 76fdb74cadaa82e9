// A table with one learned row for each token of the vocabulary.
#pragma once

#include <span>

#include "heed/nn/module.h"

namespace heed {
class Rng;
}

namespace heed::nn {

class Embedding {
 public:
  Embedding() = default;
  // Normal with standard deviation dim^-0.5, so that rows have a length of about 1.
  Embedding(Index vocabulary, Index dim, Rng& rng);

  // N ids in [0, V) -> scale * their rows, [N, D].
  Tensor forward(std::span<const int> ids, float scale = 1) const;
  void visit_parameters(ParameterVisitor& visitor);

  const Tensor& weight() const { return weight_; }
  const ops::PackedMatrix& packed() const { return packed_; }  // where it is the output matrix, too

 private:
  Tensor weight_;             // [V, D], or undefined once quantize_weights has been here
  ops::PackedMatrix packed_;  // of the weight, once pack_weights or quantize_weights has been here
};

}  // namespace heed::nn
