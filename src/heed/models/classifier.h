// The encoder-only Transformer that tells which of several classes a line belongs to.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/models/text_encoder.h"
#include "heed/nn/linear.h"
#include "heed/nn/module.h"

namespace heed::models {

// Lines, each with its end token, and the number of each line's class.
struct ClassifierBatch {
  PackedIds input;
  std::vector<int> classes;
  Index num_lines() const { return static_cast<Index>(classes.size()); }
};

struct ClassifierLoss {
  Tensor loss;                         // [], the sum over lines, label-smoothed and weighted
  double negative_log_likelihood = 0;  // the sum of -log p, without smoothing and weights
};

class Classifier {
 public:
  // The labels of the configuration are the classes, in that order.
  Classifier(const TransformerConfig& config, std::uint64_t seed);  // random weights
  // Weights without values, for whoever fills them all.
  static Classifier unset(const TransformerConfig& config);

  const TransformerConfig& config() const { return config_; }
  void visit_parameters(nn::ParameterVisitor& visitor);

  // Every line counts as much as `class_weights` says of its class; once when there are none.
  ClassifierLoss loss(const ClassifierBatch& batch, nn::ForwardContext& context,
                      std::span<const float> class_weights = {}) const;

  // One vector for each line, [S, D]. Where the first token's vector is taken, the model puts the
  // begin token before every line itself.
  Tensor pooled(const PackedIds& input, nn::ForwardContext& context) const;
  Tensor logits(const PackedIds& input, nn::ForwardContext& context) const;  // [S, classes]

 private:
  Classifier(const TransformerConfig& config, Rng rng);

  TransformerConfig config_;
  TextEncoder encoder_;
  Tensor pooling_query_;  // [1, D], when attention pools
  nn::Linear head_;
};

}  // namespace heed::models
