#include "heed/models/class_logits.h"

#include "heed/ops/elementwise.h"

namespace heed::models {
namespace {

Tensor activated(HeadLayer layer, const Tensor& x) {
  switch (layer) {
    case HeadLayer::tanh:
      return ops::tanh(x);
    case HeadLayer::relu:
      return ops::relu(x);
    case HeadLayer::gelu:
      return ops::gelu(x);
    case HeadLayer::none:
      break;
  }
  return x;
}

}  // namespace

ClassLogits::ClassLogits(const TransformerConfig& config, const nn::Initializer& initializer)
    : head_layer_kind_(config.head_layer), dropout_(config.dropout) {
  if (head_layer_kind_ != HeadLayer::none) {
    head_layer_ = nn::Linear(config.model_dim, config.model_dim, initializer);
  }
  head_ = nn::Linear(config.model_dim, std::ssize(config.labels), initializer);
}

Tensor ClassLogits::forward(const Tensor& x, nn::ForwardContext& context) const {
  const bool has_layer = head_layer_kind_ != HeadLayer::none;
  const Tensor h = has_layer ? activated(head_layer_kind_, head_layer_.forward(x)) : x;
  return head_.forward(ops::dropout(h, context.dropout(dropout_)));
}

void ClassLogits::visit_parameters(nn::ParameterVisitor& visitor) {
  if (head_layer_kind_ != HeadLayer::none) visitor.child("head_layer", head_layer_);
  visitor.child("head", head_);
}

}  // namespace heed::models
