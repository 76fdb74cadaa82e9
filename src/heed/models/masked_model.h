// The encoder-only Transformer that tells which tokens were masked in a line.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heed/models/text_encoder.h"
#include "heed/nn/linear.h"
#include "heed/nn/module.h"

namespace heed::models {

// Lines with some of their tokens hidden, and what stood there.
struct MaskedBatch {
  PackedIds input;            // each line with its end token
  std::vector<Index> places;  // rows of the input
  std::vector<int> hidden;    // the right token of each of these places
  Index num_hidden() const { return static_cast<Index>(hidden.size()); }
};

struct MaskedLoss {
  Tensor loss;                         // [], the sum over the places, label-smoothed
  double negative_log_likelihood = 0;  // the sum of -log p, without smoothing
};

class MaskedModel {
 public:
  MaskedModel(const TransformerConfig& config, std::uint64_t seed);  // random weights
  // Weights without values, for whoever fills them all.
  static MaskedModel unset(const TransformerConfig& config);

  const TransformerConfig& config() const { return config_; }
  void visit_parameters(nn::ParameterVisitor& visitor);

  MaskedLoss loss(const MaskedBatch& batch, nn::ForwardContext& context) const;

  Packed encode(const PackedIds& input, nn::ForwardContext& context) const;  // N ids -> [N, D]
  Tensor logits(const Tensor& encoded) const;  // rows of it, [n, D] -> [n, V]

 private:
  MaskedModel(const TransformerConfig& config, Rng rng);

  const Tensor& output_weight() const;  // [V, D]

  TransformerConfig config_;
  TextEncoder encoder_;
  std::optional<nn::Linear> output_;  // unless tied
};

}  // namespace heed::models
