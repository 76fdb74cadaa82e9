#include "heed/ops/similarity.h"

#include <array>
#include <cmath>

#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"
#include "heed/ops/norm.h"

namespace heed {

template <>
std::span<const Choice<ops::Similarity>> choices() {
  static constexpr std::array all{Choice{"dot", ops::Similarity::dot},
                                  Choice{"cosine", ops::Similarity::cosine},
                                  Choice{"scaled-dot", ops::Similarity::scaled_dot}};
  return all;
}

}  // namespace heed

namespace heed::ops {

float default_scale(Similarity similarity, Index dim) {
  return similarity == Similarity::scaled_dot ? 1 / std::sqrt(static_cast<float>(dim)) : 1;
}

Tensor dot_similarity(const Tensor& a, const Tensor& b) {
  check(a.rank() == 2 && b.rank() == 2 && a.dim(1) == b.dim(1),
        "similarity: expected rows of equal width, got ", a.shape(), " and ", b.shape());
  return matmul(a, b, {.transpose_b = true});
}

Tensor cosine_similarity(const Tensor& a, const Tensor& b) {
  return dot_similarity(unit_vectors(a, a.dim(-1)), unit_vectors(b, b.dim(-1)));
}

Tensor scaled_dot_similarity(const Tensor& a, const Tensor& b) {
  return scale(dot_similarity(a, b), default_scale(Similarity::scaled_dot, a.dim(-1)));
}

Tensor similarity(const Tensor& a, const Tensor& b, Similarity similarity) {
  switch (similarity) {
    case Similarity::dot:
      return dot_similarity(a, b);
    case Similarity::cosine:
      return cosine_similarity(a, b);
    case Similarity::scaled_dot:
      return scaled_dot_similarity(a, b);
  }
  fail(ErrorKind::failed, "similarity: unknown kind");
}

}  // namespace heed::ops
