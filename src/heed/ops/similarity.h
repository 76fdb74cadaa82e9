// Similarities of vectors: every row of a against every row of b.
#pragma once

#include <optional>
#include <string_view>

#include "heed/core/tensor.h"

namespace heed::ops {

enum class Similarity { dot, cosine, scaled_dot };

std::string_view to_string(Similarity similarity);  // dot, cosine, scaled-dot
std::optional<Similarity> parse_similarity(std::string_view text);

// The factor of the dot products of D numbers: 1/sqrt(D) for scaled_dot, otherwise 1.
float default_scale(Similarity similarity, Index dim);

// a [N, D], b [M, D] -> [N, M].
Tensor dot_similarity(const Tensor& a, const Tensor& b);
Tensor cosine_similarity(const Tensor& a, const Tensor& b);      // 0 for a zero vector
Tensor scaled_dot_similarity(const Tensor& a, const Tensor& b);  // dot / sqrt(D)
Tensor similarity(const Tensor& a, const Tensor& b, Similarity similarity);

}  // namespace heed::ops
