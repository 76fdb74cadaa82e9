#include "heed/nn/similarity_scale.h"

namespace heed::nn {

std::optional<float> default_scale(ops::Similarity similarity) {
  if (similarity == ops::Similarity::cosine) return default_cosine_scale;
  return std::nullopt;
}

float similarity_scale(const MultiHeadAttentionOptions& options, ops::Similarity similarity) {
  const bool has_own = similarity == options.similarity && options.scale;
  const std::optional<float> scale = has_own ? options.scale : default_scale(similarity);
  return scale.value_or(ops::default_scale(similarity, options.model_dim / options.num_heads));
}

}  // namespace heed::nn
