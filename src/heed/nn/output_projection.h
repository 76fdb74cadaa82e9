// The output projection: hidden vectors to logits over the vocabulary.
#pragma once

#include <optional>
#include <span>

#include "heed/nn/feed_forward.h"
#include "heed/nn/initializer.h"
#include "heed/nn/linear.h"
#include "heed/nn/module.h"
#include "heed/nn/norm.h"

namespace heed::ops {
class ArgmaxProjection;
struct ProjectionLoss;
}  // namespace heed::ops

namespace heed::nn {

// Linear, activation and norm before the projection (BERT).
struct OutputTransformOptions {
  Index hidden_dim = 0;  // which it makes as wide as the projection's input
  Activation activation = Activation::gelu;
  NormOptions norm = {};
};

struct OutputProjectionOptions {
  Index input_dim = 0;  // of the projection itself
  Index vocabulary = 0;
  bool is_tied = true;
  bool has_bias = false;
  float scale = 1;    // of the projection's input (T5)
  float softcap = 0;  // c > 0: logits become c * tanh(logit / c) (Gemma 2)
  std::optional<OutputTransformOptions> transform = std::nullopt;
};

// Has a weight of its own or is tied to an embedding (Press and Wolf 2017), whose table every call
// gets.
class OutputProjection {
 public:
  OutputProjection() = default;  // tied, and nothing else
  OutputProjection(const OutputProjectionOptions& options, const Initializer& initializer);

  // [N, D] -> [N, V].
  Tensor logits(const Tensor& hidden, const Weight& embedding) const;
  // Projection and cross-entropy as one operation: the logits of a whole batch never exist.
  ops::ProjectionLoss loss(const Tensor& hidden, const Weight& embedding,
                           std::span<const int> targets, float label_smoothing) const;
  // Finds the largest logit, for the weights of now. Of projections without a transform.
  ops::ArgmaxProjection argmax(const Weight& embedding) const;
  bool is_packed(const Weight& embedding) const { return weight(embedding).packed.is_defined(); }

  void visit_parameters(ParameterVisitor& visitor);

 private:
  const Weight& weight(const Weight& embedding) const {
    return options_.is_tied ? embedding : weight_;
  }
  Tensor input(const Tensor& hidden) const;  // of the projection itself

  OutputProjectionOptions options_;
  Linear transform_;  // if the options have one, with its norm
  Norm norm_;
  Weight weight_;  // [V, D], unless tied
  Tensor bias_;    // [V], or undefined
};

}  // namespace heed::nn
