// Token embeddings: a table with one learned row for each token of the vocabulary.
#pragma once

#include <span>

#include "heed/nn/initializer.h"
#include "heed/nn/module.h"

namespace heed::nn {

class Embedding {
 public:
  Embedding() = default;
  // Normal with standard deviation dim^-0.5, so that rows have a length of about 1.
  // Looking up the token `frozen` leaves no gradient.
  Embedding(Index vocabulary, Index dim, const Initializer& initializer, int frozen = -1);

  // N ids in [0, V) -> scale * their rows, [N, D].
  Tensor forward(std::span<const int> ids, float scale = 1) const;
  void visit_parameters(ParameterVisitor& visitor);

  const Weight& weight() const { return weight_; }  // which an output projection may share

 private:
  Weight weight_;  // [V, D]
  int frozen_ = -1;
};

}  // namespace heed::nn
