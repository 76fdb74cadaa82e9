// The encoder-only Transformer that classifies lines of text.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/models/class_head.h"
#include "heed/models/text_encoder.h"

namespace heed::models {

// Lines, each with its end token, and the number of each line's class.
struct ClassifierBatch {
  PackedIds input;
  std::vector<int> classes;
  Index num_lines() const { return std::ssize(classes); }
};

class Classifier : public Model {
 public:
  static constexpr ModelKind kind = ModelKind::classifier;

  // The labels of the configuration are the classes, in that order.
  Classifier(const TransformerConfig& config, std::uint64_t seed);  // random weights
  Classifier(const TransformerConfig& config, const nn::Initializer& initializer);

  void visit_parameters(nn::ParameterVisitor& visitor);

  // Every line counts by its class's weight; once without class weights.
  Loss loss(const ClassifierBatch& batch, nn::ForwardContext& context,
            std::span<const float> class_weights = {}) const;

  // One vector for each line, [S, D]. With pooling of the first token, the model prepends the begin
  // token to every line itself.
  Tensor pooled(const PackedIds& input, nn::ForwardContext& context) const;
  Tensor logits(const PackedIds& input, nn::ForwardContext& context) const;  // [S, classes]

 private:
  TextEncoder encoder_;
  ClassHead head_;
};

}  // namespace heed::models
