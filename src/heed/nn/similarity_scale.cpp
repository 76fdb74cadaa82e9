#include "heed/nn/similarity_scale.h"

namespace heed::nn {

std::optional<float> similarity_scale(const MultiHeadAttentionOptions& options,
                                      ops::Similarity similarity) {
  if (similarity == options.similarity && options.scale) return options.scale;
  if (similarity == ops::Similarity::cosine) return default_cosine_scale;
  return std::nullopt;
}

}  // namespace heed::nn
