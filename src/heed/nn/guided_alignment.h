// Guided alignment: one attention head learns to attend to the words that belong together.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "heed/nn/attention_hook.h"
#include "heed/ops/alignment_loss.h"

namespace heed::nn {

// The loss of one head against given links (Garg and others 2019).
class GuidedAlignment : public AttentionHook {
 public:
  // `layer`: decoder.2.cross_attention.
  GuidedAlignment(std::string layer, Index head, std::vector<ops::AttentionLink> links)
      : layer_(std::move(layer)), head_(head), links_(std::move(links)) {}

  const Tensor& loss() const { return loss_; }  // [], of the last pass

  void see(const AttentionCall& call, const Packed& queries, const Packed& keys,
           const ops::AttentionOptions& options) const override {
    if (call.layer != layer_) return;
    loss_ = ops::alignment_loss(queries, keys, links_,
                                {.num_heads = options.num_heads,
                                 .num_key_value_heads = options.num_key_value_heads,
                                 .head = head_,
                                 .scale = options.scale});
  }

 private:
  std::string layer_;
  Index head_;
  std::vector<ops::AttentionLink> links_;
  mutable Tensor loss_;
};

}  // namespace heed::nn
