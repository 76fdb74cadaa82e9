#include "heed/ops/linear.h"

#include "heed/base/error.h"
#include "heed/ops/linear_backward.h"
#include "heed/ops/packed_matrix.h"
#include "heed/ops/parallel_gemm.h"

namespace heed::ops {
namespace {

void check_bias(const Tensor& bias, Index out_dim) {
  check(!bias.is_defined() || bias.shape() == Shape{out_dim}, "linear: expected a bias [", out_dim,
        "], got ", bias.shape());
}

const float* data_or_null(const Tensor& x) { return x.is_defined() ? x.data() : nullptr; }

}  // namespace

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check(x.rank() == 2 && weight.rank() == 2 && x.dim(1) == weight.dim(1),
        "linear: expected x [N, I] and weight [O, I], got ", x.shape(), " and ", weight.shape());
  const Index rows = x.dim(0), in_dim = x.dim(1), out_dim = weight.dim(0);
  check_bias(bias, out_dim);

  Tensor y = Tensor::empty({rows, out_dim});
  parallel_gemm({y.data(), out_dim}, {x.data(), in_dim},
                {weight.data(), in_dim, /*transposed=*/true}, {rows, out_dim, in_dim},
                {.bias = data_or_null(bias)});

  std::vector<Tensor> inputs{x, weight};
  if (bias.is_defined()) inputs.push_back(bias);
  return record(
      y, inputs,
      [x = x.detach(), weight = weight.detach(), needs_dx = x.needs_gradient(),
       needs_dweight = weight.needs_gradient(), needs_dbias = bias.needs_gradient(),
       has_bias = bias.is_defined()](const Tensor& dy, const TakeGradient& take) -> Gradients {
        LinearGradients gradients = linear_backward(dy, x, weight,
                                                    {.wants_dx = needs_dx,
                                                     .wants_dweight = needs_dweight,
                                                     .wants_dbias = needs_dbias,
                                                     .dx_so_far = needs_dx ? take(0) : Tensor()});
        if (!has_bias) return {gradients.dx, gradients.dweight};
        return {gradients.dx, gradients.dweight, gradients.dbias};
      });
}

Tensor linear(const Tensor& x, const PackedMatrix& weight, const Tensor& bias) {
  const Index in_dim = weight.in_dim(), out_dim = weight.out_dim();
  check(x.rank() == 2 && x.dim(1) == in_dim, "linear: expected x [N, ", in_dim, "], got ",
        x.shape());
  check_bias(bias, out_dim);
  check(!is_grad_enabled() || !x.needs_gradient(), "linear: a packed weight has no gradient");
  Tensor y = Tensor::empty({x.dim(0), out_dim});
  const GemmOptions options{.bias = data_or_null(bias)};
  const GemmSizes sizes{x.dim(0), out_dim, in_dim};
  if (weight.format() == WeightFormat::f32) {
    parallel_gemm_packed({y.data(), out_dim}, {x.data(), in_dim}, weight.panels_.get(), sizes,
                         options);
  } else {
    parallel_gemm_quantized({y.data(), out_dim}, {x.data(), in_dim},
                            {weight.format(), weight.bytes()}, sizes, options);
  }
  return y;
}

}  // namespace heed::ops
