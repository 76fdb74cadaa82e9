#include "heed/models/classifier.h"

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/models/initial_step.h"
#include "heed/ops/attention.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/embedding.h"
#include "heed/ops/pooling.h"
#include "heed/ops/softmax.h"
#include "heed/text/tokenizer.h"

namespace heed::models {
namespace {

PackedIds with_begin(const PackedIds& input) {
  PackedIds longer;
  std::vector<Index> lengths;
  for (const Span& span : input.spans) {
    longer.ids.push_back(text::Tokenizer::begin);
    const auto line = input.ids.begin() + span.begin;
    longer.ids.insert(longer.ids.end(), line, line + span.length);
    lengths.push_back(span.length + 1);
  }
  longer.spans = Spans::of_lengths(lengths);
  return longer;
}

Tensor first_rows(const Packed& x) {
  std::vector<Index> rows;
  for (const Span& span : x.spans) rows.push_back(span.begin);
  return ops::gather_rows(x.values, rows);
}

// softmax(q x^T / sqrt(D)) x for each sequence, with the same query [1, D] for all.
Tensor attended_rows(const Packed& x, const Tensor& query) {
  const auto count = static_cast<std::size_t>(x.spans.count());
  const Tensor queries = ops::gather_rows(query, std::vector<Index>(count, 0));  // [S, D]
  const Spans one_each = Spans::of_lengths(std::vector<Index>(count, 1));
  return ops::attention({queries, one_each}, x, x.values, ops::AttentionMask::none(), {});
}

double sum_of_negative_log_likelihoods(const Tensor& logits, std::span<const int> classes) {
  const Tensor log_probabilities = ops::log_softmax(logits.detach());
  double sum = 0;
  for (std::size_t line = 0; line < classes.size(); ++line) {
    sum -= log_probabilities.data()[static_cast<Index>(line) * logits.dim(1) + classes[line]];
  }
  return sum;
}

}  // namespace

Classifier::Classifier(const TransformerConfig& config, std::uint64_t seed)
    : Classifier(config, Rng(random_key(seed, initial_step, 0))) {}

Classifier Classifier::unset(const TransformerConfig& config) {
  return Classifier(config, Rng::silent());
}

Classifier::Classifier(const TransformerConfig& config, Rng rng) : config_(config) {
  validate(config_);
  check(config_.kind == ModelKind::classifier && !config_.labels.empty(),
        "classifier: expected an encoder alone, with labels");
  encoder_ = TextEncoder(config_, rng);
  if (config_.pooling == Pooling::attention) {
    pooling_query_ = Tensor::zeros({1, config_.model_dim});  // which makes it a mean at first
    pooling_query_.require_gradient();
  }
  head_ = nn::Linear(config_.model_dim, static_cast<Index>(config_.labels.size()), rng);
}

void Classifier::visit_parameters(nn::ParameterVisitor& visitor) {
  encoder_.visit_parameters(visitor);
  if (pooling_query_.is_defined()) visitor.parameter("pooling.query", pooling_query_);
  visitor.child("head", head_);
}

Tensor Classifier::pooled(const PackedIds& input, nn::ForwardContext& context) const {
  switch (config_.pooling) {
    case Pooling::first:
      return first_rows(encoder_.forward(with_begin(input), context));
    case Pooling::mean:
      return ops::mean_rows(encoder_.forward(input, context));
    case Pooling::attention:
      break;
  }
  return attended_rows(encoder_.forward(input, context), pooling_query_);
}

Tensor Classifier::logits(const PackedIds& input, nn::ForwardContext& context) const {
  const Tensor vectors = pooled(input, context);
  return head_.forward(ops::dropout(vectors, context.dropout(config_.dropout)));
}

ClassifierLoss Classifier::loss(const ClassifierBatch& batch, nn::ForwardContext& context,
                                std::span<const float> class_weights) const {
  check(class_weights.empty() || class_weights.size() == config_.labels.size(),
        "classifier: expected ", config_.labels.size(), " class weights, got ",
        class_weights.size());
  const Tensor scores = logits(batch.input, context);
  Tensor losses = ops::cross_entropy(
      scores, batch.classes,
      {.label_smoothing = config_.label_smoothing, .reduction = ops::Reduction::none});
  if (!class_weights.empty()) {
    Tensor weights = Tensor::empty(losses.shape());
    for (Index line = 0; line < batch.num_lines(); ++line) {
      weights.data()[line] = class_weights[static_cast<std::size_t>(batch.classes[line])];
    }
    losses = ops::multiply(losses, weights);
  }
  return {ops::sum(losses), sum_of_negative_log_likelihoods(scores, batch.classes)};
}

}  // namespace heed::models
