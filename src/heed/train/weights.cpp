#include "heed/train/weights.h"

#include <algorithm>
#include <cassert>

namespace heed::train {

Weights copy_weights(const Weights& weights) {
  Weights copy;
  for (const nn::NamedTensor& weight : weights) copy.push_back({weight.name, weight.value.clone()});
  return copy;
}

void assign_weights(Weights& to, const Weights& from) {
  assert(to.size() == from.size());
  for (std::size_t i = 0; i < to.size(); ++i) {
    assert(to[i].name == from[i].name && to[i].value.shape() == from[i].value.shape());
    std::ranges::copy(from[i].value.values(), to[i].value.data());
  }
}

BorrowedWeights::BorrowedWeights(Weights model, Weights other)
    : model_(std::move(model)), own_(copy_weights(model_)), other_(std::move(other)) {
  assign_weights(model_, other_);
}

void BorrowedWeights::swap() {
  has_other_ = !has_other_;
  assign_weights(model_, has_other_ ? other_ : own_);
}

BorrowedWeights::~BorrowedWeights() { assign_weights(model_, own_); }

}  // namespace heed::train
