// The encoder-only Transformer that classifies lines of text, or pairs of texts, gives them any
// number of labels, or predicts a number.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/models/class_head.h"
#include "heed/models/text_encoder.h"

namespace heed::models {

// Lines, each with its end token, or pairs, each a </s> b </s>; and what each should give.
struct ClassifierBatch {
  PackedIds input;
  std::vector<int> classes;  // of a single-label problem: the number of each line's class
  // Of the others, [lines, labels]: 1 for the labels of a line, 0 for the rest; or its number, as
  // (number - score_mean) / score_scale.
  Tensor targets = {};
  Index num_lines() const { return targets.is_defined() ? targets.dim(0) : std::ssize(classes); }
};

class Classifier : public Model {
 public:
  static constexpr ModelKind kind = ModelKind::classifier;

  // The labels of the configuration are the classes, in that order.
  Classifier(const TransformerConfig& config, std::uint64_t seed);  // random weights
  Classifier(const TransformerConfig& config, const nn::Initializer& initializer);

  void visit_parameters(nn::ParameterVisitor& visitor);

  // As ClassHead::loss. Only a single-label problem has class weights.
  Loss loss(const ClassifierBatch& batch, nn::ForwardContext& context,
            std::span<const float> class_weights = {}) const;

  // One vector for each line, [S, D]. With pooling of the first token, the model prepends the begin
  // token to every line itself, unless the configuration says that it is there.
  Tensor pooled(const PackedIds& input, nn::ForwardContext& context) const;
  // [S, classes]; of a regression [S, 1], as in ClassifierBatch::targets.
  Tensor logits(const PackedIds& input, nn::ForwardContext& context) const;

 private:
  TextEncoder encoder_;
  ClassHead head_;
};

}  // namespace heed::models
