#include "heed/ops/softmax.h"

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/kernels/softmax.h"

namespace heed::ops {
namespace {

struct Rows {
  Index rows, cols;
  Index grain() const { return std::max<Index>(1, (1 << 14) / cols); }
};

Rows rows_of(const char* op, const Tensor& x) {
  check(x.rank() > 0 && x.dim(-1) > 0, op, ": needs a non-empty last axis, got ", x.shape());
  return {x.size() / x.dim(-1), x.dim(-1)};
}

}  // namespace

Tensor softmax(const Tensor& x) {
  const Rows r = rows_of("softmax", x);
  Tensor y = Tensor::empty(x.shape());
  parallel_ranges(r.rows, r.grain(), [&](Index begin, Index end) {
    kernels::softmax(y.data() + begin * r.cols, x.data() + begin * r.cols, end - begin, r.cols);
  });

  // dx = y * (dy - sum(dy * y)), row by row. Needs y only, so x can be freed.
  return record(y, {x}, [y, r](const Tensor& dy) -> Gradients {
    Tensor dx = Tensor::empty(y.shape());
    parallel_ranges(r.rows, r.grain(), [&](Index begin, Index end) {
      const Index at = begin * r.cols;
      kernels::softmax_backward(dx.data() + at, dy.data() + at, y.data() + at, end - begin, r.cols);
    });
    return {dx};
  });
}

Tensor log_softmax(const Tensor& x) {
  const Rows r = rows_of("log_softmax", x);
  Tensor y = Tensor::empty(x.shape());
  parallel_ranges(r.rows, r.grain(), [&](Index begin, Index end) {
    kernels::log_softmax(y.data() + begin * r.cols, x.data() + begin * r.cols, end - begin, r.cols);
  });

  // dx = dy - e^y * sum(dy), row by row.
  return record(y, {x}, [y, r](const Tensor& dy) -> Gradients {
    Tensor dx = Tensor::empty(y.shape());
    parallel_ranges(r.rows, r.grain(), [&](Index begin, Index end) {
      const Index at = begin * r.cols;
      kernels::log_softmax_backward(dx.data() + at, dy.data() + at, y.data() + at, end - begin,
                                    r.cols);
    });
    return {dx};
  });
}

}  // namespace heed::ops
