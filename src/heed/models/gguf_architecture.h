// The architecture of GGUF that computes what a language model of ours computes.
#pragma once

#include <string>
#include <string_view>

#include "heed/models/transformer_config.h"

namespace heed::models {

struct GgufArchitecture {
  std::string_view name;               // general.architecture, and the prefix of its metadata
  bool has_fused_attention = false;    // queries, keys and values in one matrix
  bool needs_biases = false;           // of all linear layers and norms, be they zero
  bool needs_output = false;           // an output matrix of its own, although it is tied
  bool has_rotary_neighbours = false;  // RoPE rotates pairs (2i, 2i + 1), not halves
};

// Refuses (ErrorKind::model) settings that none has, by name.
GgufArchitecture gguf_architecture(const TransformerConfig& config);

}  // namespace heed::models
