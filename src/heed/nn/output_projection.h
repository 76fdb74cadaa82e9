// The output projection: hidden vectors to logits over the vocabulary.
#pragma once

#include <span>

#include "heed/nn/initializer.h"
#include "heed/nn/module.h"

namespace heed::ops {
class ArgmaxProjection;
struct ProjectionLoss;
}  // namespace heed::ops

namespace heed::nn {

// Has a weight of its own, without bias, or is tied to an embedding (Press and Wolf 2017), whose
// table every call gets.
class OutputProjection {
 public:
  OutputProjection() = default;  // tied
  OutputProjection(Index model_dim, Index vocabulary, const Initializer& initializer);

  // [N, D] -> [N, V].
  Tensor logits(const Tensor& hidden, const Weight& embedding) const;
  // Projection and cross-entropy as one operation: the logits of a whole batch never exist.
  ops::ProjectionLoss loss(const Tensor& hidden, const Weight& embedding,
                           std::span<const int> targets, float label_smoothing) const;
  // Finds the largest logit, for the weights of now.
  ops::ArgmaxProjection argmax(const Weight& embedding) const;
  bool is_packed(const Weight& embedding) const { return weight(embedding).packed.is_defined(); }

  void visit_parameters(ParameterVisitor& visitor);  // none if tied

 private:
  bool is_tied() const { return !weight_.values.is_defined() && !weight_.packed.is_defined(); }
  const Weight& weight(const Weight& embedding) const { return is_tied() ? embedding : weight_; }

  Weight weight_;  // [V, D]
};

}  // namespace heed::nn
