// Keeps the attention weights of some layers in a forward pass.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "heed/nn/forward_context.h"

namespace heed::infer {

// Layers [begin, end) of a stack.
struct LayerRange {
  Index begin = 0;
  Index end = 0;
};

// Holds those of the last pass.
class AttentionWatcher : public nn::Watcher {
 public:
  // As in nn::Watcher: stack "encoder" or "decoder", attention "self_attention" or
  // "cross_attention".
  AttentionWatcher(std::string_view stack, std::string_view attention, LayerRange layers) {
    for (Index layer = layers.begin; layer < layers.end; ++layer) {
      layers_.push_back(
          {std::string(stack) + '.' + std::to_string(layer) + '.' + std::string(attention), {}});
    }
  }

  ops::AttentionView* watch(std::string_view name) override {
    const auto layer = std::ranges::find(layers_, name, &Layer::name);
    return layer == layers_.end() ? nullptr : &layer->view;
  }

  // The heads of all layers, in their order, for one sequence: [layers * H, queries, keys].
  Tensor weights(std::size_t sequence) const {
    std::vector<float> stacked;
    Shape shape;
    for (const Layer& layer : layers_) {
      const Tensor& weights = layer.view.weights.at(sequence);
      stacked.insert(stacked.end(), weights.values().begin(), weights.values().end());
      shape = weights.shape();
    }
    return Tensor::from(stacked, {std::ssize(layers_) * shape[0], shape[1], shape[2]});
  }

 private:
  struct Layer {
    std::string name;
    ops::AttentionView view;
  };
  std::vector<Layer> layers_;
};

}  // namespace heed::infer
