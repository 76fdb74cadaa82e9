// The structure of a Transformer block.
#pragma once

namespace heed::nn {

// Sub-layers one after the other, or self-attention and feed-forward of the same input, whose
// outputs are added to it together (GPT-NeoX): of its two norms, or of the attention's only (Phi).
enum class BlockForm { sequential, parallel, parallel_one_norm };

enum class AttentionBias { none, query_key_value, output, all };  // of attention's linear layers

}  // namespace heed::nn
