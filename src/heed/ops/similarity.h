// How alike two vectors are: every row of a against every row of b.
#pragma once

#include <optional>
#include <string_view>

#include "heed/core/tensor.h"

namespace heed::ops {

enum class Similarity { dot, cosine, scaled_dot };

std::string_view to_string(Similarity similarity);  // dot, cosine, scaled-dot
std::optional<Similarity> parse_similarity(std::string_view text);

// a [N, D], b [M, D] -> [N, M].
Tensor dot_similarity(const Tensor& a, const Tensor& b);
Tensor cosine_similarity(const Tensor& a, const Tensor& b);      // 0 beside a zero vector
Tensor scaled_dot_similarity(const Tensor& a, const Tensor& b);  // dot / sqrt(D)
Tensor similarity(const Tensor& a, const Tensor& b, Similarity similarity);

}  // namespace heed::ops
