// Keeps what a decoder's cross-attention looks at.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "heed/nn/forward_context.h"

namespace heed::infer {

// The views of the layers from one on, of the pass that ran last.
class CrossAttentionWatcher : public nn::Watcher {
 public:
  CrossAttentionWatcher(Index first_layer, Index num_layers) {
    for (Index layer = first_layer; layer < num_layers; ++layer) {
      views_["decoder." + std::to_string(layer) + ".cross_attention"];
    }
  }
  ops::AttentionView* watch(std::string_view name) override {
    const auto found = views_.find(name);
    return found == views_.end() ? nullptr : &found->second;
  }

  // All layers' heads of one sequence: [layers * H, queries, keys].
  Tensor weights(std::size_t sequence) const {
    std::vector<float> stacked;
    Shape one;
    for (const auto& [name, view] : views_) {
      const Tensor& layer = view.weights.at(sequence);
      stacked.insert(stacked.end(), layer.values().begin(), layer.values().end());
      one = layer.shape();
    }
    const Index num_layers = static_cast<Index>(views_.size());
    return Tensor::from(stacked, {num_layers * one[0], one[1], one[2]});
  }

 private:
  std::map<std::string, ops::AttentionView, std::less<>> views_;
};

}  // namespace heed::infer
