// What travels with one forward pass besides its input: training or not, randomness, who watches.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/random.h"
#include "heed/ops/alignment_loss.h"
#include "heed/ops/attention.h"

namespace heed::nn {

// Sees the inside of attention during any forward pass. The explorer is one; so is --alignment.
class AttentionWatcher {
 public:
  virtual ~AttentionWatcher() = default;
  // Where attention `name` (decoder.2.cross_attention) shall leave its view; null: not interested.
  virtual ops::AttentionView* watch(std::string_view name) = 0;
};

// Tells one head of one attention layer where to look, while it learns.
struct AttentionGuide {
  std::string layer;  // decoder.2.cross_attention
  Index head = 0;
  std::vector<ops::AttentionLink> links;
  Tensor loss = {};  // [], of ops::alignment_loss: what the layer leaves here
};

class ForwardContext {
 public:
  static ForwardContext inference(AttentionWatcher* watcher = nullptr) {
    ForwardContext context;
    context.watcher_ = watcher;
    return context;
  }
  static ForwardContext training(std::uint64_t seed, std::uint64_t step) {
    ForwardContext context;
    context.is_training_ = true;
    context.seed_ = seed;
    context.step_ = step;
    return context;
  }

  bool is_training() const { return is_training_; }
  // The dropout of the next place in this pass; none outside training. Every call is its own place,
  // so a model that runs its layers in one order draws the same numbers every time.
  ops::Dropout dropout(float probability) {
    if (!is_training_ || probability == 0) return {};
    return {probability, random_key(seed_, step_, place_++)};
  }
  ops::AttentionView* watch(std::string_view name) {
    return watcher_ ? watcher_->watch(name) : nullptr;
  }
  // The guide of a layer; null when it has none. Whoever sets one keeps it alive.
  AttentionGuide* guide(std::string_view name) const {
    return guide_ && guide_->layer == name ? guide_ : nullptr;
  }
  void set_guide(AttentionGuide* guide) { guide_ = guide; }

 private:
  bool is_training_ = false;
  std::uint64_t seed_ = 0;
  std::uint64_t step_ = 0;
  std::uint64_t place_ = 0;
  AttentionWatcher* watcher_ = nullptr;
  AttentionGuide* guide_ = nullptr;
};

}  // namespace heed::nn
