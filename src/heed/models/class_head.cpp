#include "heed/models/class_head.h"

#include "heed/base/error.h"
#include "heed/models/class_loss.h"
#include "heed/ops/attention.h"
#include "heed/ops/binary_cross_entropy.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/embedding.h"
#include "heed/ops/pooling.h"

namespace heed::models {
namespace {

Tensor first_rows(const Packed& x) {
  std::vector<Index> rows;
  for (const Span& span : x.spans) rows.push_back(span.begin);
  return ops::gather_rows(x.values, rows);
}

// softmax(q x^T / sqrt(D)) x for each sequence, with the same query [1, D] for all.
Tensor attention_pool(const Packed& x, const Tensor& query) {
  const auto count = static_cast<std::size_t>(x.spans.count());
  const Tensor queries = ops::gather_rows(query, std::vector<Index>(count, 0));  // [S, D]
  const Spans one_each = Spans::of_lengths(std::vector<Index>(count, 1));
  return ops::attention({queries, one_each}, x, x.values, ops::AttentionMask::none(), {});
}

}  // namespace

ClassHead::ClassHead(const TransformerConfig& config, const nn::Initializer& initializer)
    : problem_type_(config.problem_type),
      pooling_(config.pooling),
      dropout_(config.dropout),
      label_smoothing_(config.label_smoothing),
      head_(config.model_dim, std::ssize(config.labels), initializer) {
  if (pooling_ == Pooling::attention) {
    pooling_query_ = initializer.constant({1, config.model_dim}, 0);  // a mean at first
  }
}

void ClassHead::visit_parameters(nn::ParameterVisitor& visitor) {
  if (pooling_query_.is_defined()) visitor.parameter("pooling.query", pooling_query_);
  visitor.child("head", head_);
}

Tensor ClassHead::pool(const Packed& encoded) const {
  switch (pooling_) {
    case Pooling::first:
      return first_rows(encoded);
    case Pooling::mean:
      return ops::mean_rows(encoded);
    case Pooling::attention:
      break;
  }
  return attention_pool(encoded, pooling_query_);
}

Tensor ClassHead::logits(const Tensor& pooled, nn::ForwardContext& context) const {
  return head_.forward(ops::dropout(pooled, context.dropout(dropout_)));
}

Loss ClassHead::loss(const Tensor& logits, std::span<const int> classes,
                     std::span<const float> class_weights) const {
  return class_loss(logits, classes, label_smoothing_, class_weights);
}

Loss ClassHead::loss(const Tensor& logits, const Tensor& targets) const {
  check(logits.shape() == targets.shape(), "classifier: expected targets ", logits.shape(),
        ", got ", targets.shape());
  if (problem_type_ == ProblemType::regression) {
    const Tensor error = ops::subtract(logits, targets);
    const Tensor loss = ops::sum(ops::multiply(error, error));
    return {loss, loss.item()};
  }
  const float share = 1 / static_cast<float>(logits.dim(1));
  const auto loss_of = [&](const Tensor& x, const Tensor& y) {
    return ops::scale(ops::sum(ops::binary_cross_entropy(x, y)), share);
  };
  return {loss_of(logits, smoothed(targets)), loss_of(logits.detach(), targets).item()};
}

// A part of the certainty goes to the other answer: as label smoothing over the two answers.
Tensor ClassHead::smoothed(const Tensor& targets) const {
  if (label_smoothing_ == 0) return targets;
  return ops::add_scalar(ops::scale(targets, 1 - label_smoothing_), label_smoothing_ / 2);
}

}  // namespace heed::models
