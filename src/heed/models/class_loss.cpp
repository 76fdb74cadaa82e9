#include "heed/models/class_loss.h"

#include "heed/base/error.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/softmax.h"

namespace heed::models {
namespace {

double sum_of_negative_log_likelihoods(const Tensor& logits, std::span<const int> classes) {
  const Tensor log_probabilities = ops::log_softmax(logits.detach());
  double sum = 0;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    sum -= log_probabilities.data()[static_cast<Index>(i) * logits.dim(1) + classes[i]];
  }
  return sum;
}

}  // namespace

Loss class_loss(const Tensor& logits, std::span<const int> classes, float label_smoothing,
                std::span<const float> class_weights) {
  check(class_weights.empty() || std::ssize(class_weights) == logits.dim(1),
        "classifier: expected ", logits.dim(1), " class weights, got ", class_weights.size());
  Tensor losses = ops::cross_entropy(
      logits, classes, {.label_smoothing = label_smoothing, .reduction = ops::Reduction::none});
  if (!class_weights.empty()) {
    Tensor weights = Tensor::empty(losses.shape());
    for (std::size_t i = 0; i < classes.size(); ++i) {
      weights.data()[i] = class_weights[static_cast<std::size_t>(classes[i])];
    }
    losses = ops::multiply(losses, weights);
  }
  return {ops::sum(losses), sum_of_negative_log_likelihoods(logits, classes)};
}

}  // namespace heed::models
