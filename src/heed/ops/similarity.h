// Similarities of vectors: every row of a against every row of b.
#pragma once

#include "heed/base/choices.h"
#include "heed/core/tensor.h"

namespace heed::ops {

enum class Similarity { dot, cosine, scaled_dot };

// The factor of the dot products of D numbers: 1/sqrt(D) for scaled_dot, otherwise 1.
float default_scale(Similarity similarity, Index dim);

// a [N, D], b [M, D] -> [N, M].
Tensor dot_similarity(const Tensor& a, const Tensor& b);
Tensor cosine_similarity(const Tensor& a, const Tensor& b);      // 0 for a zero vector
Tensor scaled_dot_similarity(const Tensor& a, const Tensor& b);  // dot / sqrt(D)
Tensor similarity(const Tensor& a, const Tensor& b, Similarity similarity);

}  // namespace heed::ops

namespace heed {

template <>
std::span<const Choice<ops::Similarity>> choices();  // dot, cosine, scaled-dot

}  // namespace heed
