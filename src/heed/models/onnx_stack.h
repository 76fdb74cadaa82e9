// An encoder's stack of Transformer blocks as nodes of an ONNX graph.
#pragma once

#include "heed/models/onnx_layers.h"
#include "heed/nn/transformer_block.h"

namespace heed::models {

// What blocks need besides the vectors.
struct OnnxSequence {
  OnnxValue positions;      // [B or 1, S], from 0; those of padding are any
  OnnxValue mask;           // [B, S] floats, 1 for tokens and 0 for padding; empty: no padding
  Index max_positions = 0;  // of positions, which tables hold
};

class OnnxStack {
 public:
  // Refuses (ErrorKind::model) settings that it does not export, by name.
  OnnxStack(OnnxLayers& layers, const nn::TransformerOptions& options);

  // Embedded tokens [B, S, D] -> [B, S, D].
  OnnxValue forward(OnnxValue x, const OnnxSequence& sequence);

 private:
  OnnxValue add_positions(const OnnxValue& x, const OnnxSequence& sequence);
  void prepare_scores(const OnnxSequence& sequence);
  void add_score_bias(OnnxValue& total, const OnnxValue& bias);
  OnnxValue window_bias(Index window);
  OnnxValue distance_bias();
  OnnxValue alibi_bias();
  void prepare_rotary(const OnnxSequence& sequence);

  OnnxValue block(const std::string& name, Index layer, const OnnxValue& x);
  OnnxValue attend(const std::string& name, Index layer, const OnnxValue& x);
  OnnxValue heads(const std::string& name, const OnnxValue& x, Index num_heads);
  OnnxValue rotate(const OnnxValue& heads);
  OnnxValue feed_forward(const std::string& name, const OnnxValue& x);
  OnnxValue norm(const std::string& name, const OnnxValue& x);

  OnnxLayers& layers_;
  io::OnnxGraph& graph_;
  const nn::TransformerOptions options_;
  Index head_dim_ = 0;
  Index rotary_dim_ = 0;
  OnnxValue score_bias_;  // of all layers, broadcast to [B, H, S, S]; empty: none
  OnnxValue distances_;   // [B, S, S], key - query; empty: nobody needs them
  OnnxValue cos_, sin_;   // [B or 1, S, 1, rotary / 2]
};

}  // namespace heed::models
