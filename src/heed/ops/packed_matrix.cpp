#include "heed/ops/packed_matrix.h"

#include "heed/base/error.h"
#include "heed/core/storage.h"
#include "heed/kernels/gemm.h"
#include "heed/ops/parallel_gemm.h"

namespace heed::ops {

PackedMatrix::PackedMatrix(const Tensor& weight) {
  check(weight.rank() == 2, "packed matrix: expected a weight [O, I], got ", weight.shape());
  out_dim_ = weight.dim(0);
  in_dim_ = weight.dim(1);
  panels_ = allocate_floats(kernels::gemm_packed_size(in_dim_, out_dim_));
  parallel_pack(panels_.get(), {weight.data(), in_dim_, /*transposed=*/true}, out_dim_, in_dim_);
}

Tensor linear(const Tensor& x, const PackedMatrix& weight, const Tensor& bias) {
  check(x.rank() == 2 && x.dim(1) == weight.in_dim(), "linear: expected x [N, ", weight.in_dim(),
        "], got ", x.shape());
  check(!bias.is_defined() || bias.shape() == Shape{weight.out_dim()}, "linear: expected a bias [",
        weight.out_dim(), "], got ", bias.shape());
  check(!is_recording() || !x.needs_gradient(), "linear: a packed weight has no gradient");
  Tensor y = Tensor::empty({x.dim(0), weight.out_dim()});
  parallel_gemm_packed(y.data(), weight.out_dim(), {x.data(), x.dim(1)}, weight.panels(), x.dim(0),
                       weight.out_dim(), weight.in_dim(),
                       {.bias = bias.is_defined() ? bias.data() : nullptr});
  return y;
}

}  // namespace heed::ops
