// What stands before and behind the blocks of an encoder or a decoder: positions in front, and a
// last norm where the blocks normalise before their sub-layers.
#pragma once

#include <span>
#include <string>

#include "heed/nn/block_options.h"

namespace heed::nn {

class StackEnds {
 public:
  StackEnds() = default;
  // `name` is the stack's, under which a watcher sees what happens here.
  StackEnds(const std::string& name, const BlockOptions& options, Rng& rng);

  // Embedded tokens [N, D], sequence s of which continues past[s] tokens -> [N, D], with positions
  // and dropout.
  Tensor embedded(const Packed& x, ForwardContext& context, std::span<const Index> past = {}) const;
  // What the last block has made, [N, D] -> [N, D].
  Tensor finished(const Tensor& x, ForwardContext& context) const;

  void visit_first(ParameterVisitor& visitor);  // what stands before the blocks' parameters
  void visit_last(ParameterVisitor& visitor);   // and behind them

 private:
  std::string name_;
  float dropout_ = 0;
  NormPlace norm_place_ = NormPlace::after;
  PositionEmbedding positions_;
  Norm norm_;  // when norm_place is before
};

}  // namespace heed::nn
