#include "heed/ops/matmul.h"

#include "heed/base/error.h"
#include "heed/ops/parallel_gemm.h"

namespace heed::ops {
namespace {

Operand operand(const Tensor& x, bool transposed = false) {
  return {x.data(), x.dim(1), transposed};
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options) {
  check(a.rank() == 2 && b.rank() == 2, "matmul: expected two matrices, got ", a.shape(), " x ",
        b.shape());
  const Index m = a.dim(options.transpose_a ? 1 : 0), k = a.dim(options.transpose_a ? 0 : 1);
  const Index n = b.dim(options.transpose_b ? 0 : 1);
  check(k == b.dim(options.transpose_b ? 1 : 0), "matmul: inner sizes differ, ", a.shape(),
        options.transpose_a ? "^T" : "", " x ", b.shape(), options.transpose_b ? "^T" : "");

  Tensor c = Tensor::empty({m, n});
  parallel_gemm({c.data(), n}, operand(a, options.transpose_a), operand(b, options.transpose_b),
                {m, n, k});

  // da = dc b^T and db = a^T dc; where a factor was transposed, its gradient is too.
  return record(
      c, {a, b},
      [a = a.detach(), b = b.detach(), needs_da = a.needs_gradient(), needs_db = b.needs_gradient(),
       options, m, n, k](const Tensor& dc) -> Gradients {
        Tensor da, db;
        if (needs_da) da = Tensor::empty(a.shape());
        if (needs_da && options.transpose_a) {
          parallel_gemm({da.data(), m}, operand(b, options.transpose_b), operand(dc, true),
                        {k, m, n});
        } else if (needs_da) {
          parallel_gemm({da.data(), k}, operand(dc), operand(b, !options.transpose_b), {m, k, n});
        }
        if (needs_db) db = Tensor::empty(b.shape());
        if (needs_db && options.transpose_b) {
          parallel_gemm({db.data(), k}, operand(dc, true), operand(a, options.transpose_a),
                        {n, k, m});
        } else if (needs_db) {
          parallel_gemm({db.data(), n}, operand(a, !options.transpose_a), operand(dc), {k, n, m});
        }
        return {da, db};
      });
}

}  // namespace heed::ops
