// The factor that an attention layer multiplies its similarities by.
#pragma once

#include <optional>

#include "heed/nn/attention.h"

namespace heed::nn {

// The scale of a layer that compares with this similarity, which is its own or one that a hook has
// put in its place. None: that of the similarity, ops::default_scale.
std::optional<float> similarity_scale(const MultiHeadAttentionOptions& options,
                                      ops::Similarity similarity);

}  // namespace heed::nn
