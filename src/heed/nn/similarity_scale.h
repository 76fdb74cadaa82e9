// The factor that an attention layer multiplies its similarities by.
#pragma once

#include <optional>

#include "heed/nn/attention.h"

namespace heed::nn {

// In place of the similarity's own (ops::default_scale), for layers whose options have none.
std::optional<float> default_scale(ops::Similarity similarity);

// Of a layer that compares with this similarity: its own, or one that a hook has put in its place.
float similarity_scale(const MultiHeadAttentionOptions& options, ops::Similarity similarity);

}  // namespace heed::nn
