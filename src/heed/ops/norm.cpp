#include "heed/ops/norm.h"

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/kernels/elementwise.h"
#include "heed/kernels/norm.h"

namespace heed::ops {
namespace {

constexpr Index grain = 128;  // rows of one piece

void check_rows(const char* op, const Tensor& x, const Tensor& gain) {
  check(x.rank() == 2 && x.dim(1) > 0, op, ": expected rows [N, D], got ", x.shape());
  check(gain.shape() == Shape{x.dim(1)}, op, ": expected a gain [", x.dim(1), "], got ",
        gain.shape());
}

// Sums over all rows, piece by piece: each piece has a row of its own, and these are added in
// order.
class PieceSums {
 public:
  PieceSums(Index rows, Index cols)
      : cols_(cols), parts_(Tensor::zeros({std::max<Index>(1, quotient_up(rows, grain)), cols})) {}

  float* part(Index first_row) { return parts_.data() + first_row / grain * cols_; }

  Tensor total() {
    Tensor sum = Tensor::zeros({cols_});
    for (Index piece = 0; piece < parts_.dim(0); ++piece) {
      kernels::add(sum.data(), sum.data(), parts_.data() + piece * cols_, cols_);
    }
    return sum;
  }

 private:
  Index cols_;
  Tensor parts_;
};

}  // namespace

Tensor layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, float epsilon) {
  check_rows("layer_norm", x, gain);
  const Index rows = x.dim(0), cols = x.dim(1);
  check(!bias.is_defined() || bias.shape() == gain.shape(), "layer_norm: expected a bias [", cols,
        "], got ", bias.shape());

  Tensor y = Tensor::empty(x.shape()), mean = Tensor::empty({rows}),
         inverse = Tensor::empty({rows});
  const float* b = bias.is_defined() ? bias.data() : nullptr;
  parallel_ranges(rows, grain, [&](Index begin, Index end) {
    kernels::layer_norm(y.data() + begin * cols, mean.data() + begin, inverse.data() + begin,
                        x.data() + begin * cols, gain.data(), b, end - begin, cols, epsilon);
  });

  std::vector<Tensor> inputs{x, gain};
  if (bias.is_defined()) inputs.push_back(bias);
  return record(y, inputs,
                [=, x = x.detach(), gain = gain.detach(),
                 has_bias = b != nullptr](const Tensor& dy) -> Gradients {
                  Tensor dx = Tensor::empty(x.shape());
                  PieceSums dgain(rows, cols), dbias(has_bias ? rows : 0, cols);
                  parallel_ranges(rows, grain, [&](Index begin, Index end) {
                    const Index at = begin * cols;
                    kernels::layer_norm_backward(
                        dx.data() + at, dgain.part(begin), has_bias ? dbias.part(begin) : nullptr,
                        dy.data() + at, x.data() + at, mean.data() + begin, inverse.data() + begin,
                        gain.data(), end - begin, cols);
                  });
                  if (!has_bias) return {dx, dgain.total()};
                  return {dx, dgain.total(), dbias.total()};
                });
}

Tensor rms_norm(const Tensor& x, const Tensor& gain, float epsilon) {
  check_rows("rms_norm", x, gain);
  const Index rows = x.dim(0), cols = x.dim(1);
  Tensor y = Tensor::empty(x.shape()), inverse = Tensor::empty({rows});
  parallel_ranges(rows, grain, [&](Index begin, Index end) {
    kernels::rms_norm(y.data() + begin * cols, inverse.data() + begin, x.data() + begin * cols,
                      gain.data(), end - begin, cols, epsilon);
  });

  return record(y, {x, gain},
                [=, x = x.detach(), gain = gain.detach()](const Tensor& dy) -> Gradients {
                  Tensor dx = Tensor::empty(x.shape());
                  PieceSums dgain(rows, cols);
                  parallel_ranges(rows, grain, [&](Index begin, Index end) {
                    const Index at = begin * cols;
                    kernels::rms_norm_backward(dx.data() + at, dgain.part(begin), dy.data() + at,
                                               x.data() + at, inverse.data() + begin, gain.data(),
                                               end - begin, cols);
                  });
                  return {dx, dgain.total()};
                });
}

Tensor unit_vectors(const Tensor& x, Index width) {
  check(x.rank() > 0 && width > 0 && x.dim(-1) % width == 0,
        "unit_vectors: expected rows of whole ", width, "-vectors, got ", x.shape());
  const Index rows = x.size() / width;
  Tensor y = Tensor::empty(x.shape()), inverse = Tensor::empty({rows});
  parallel_ranges(rows, grain, [&](Index begin, Index end) {
    kernels::unit_vectors(y.data() + begin * width, inverse.data() + begin,
                          x.data() + begin * width, end - begin, width);
  });

  return record(y, {x}, [=](const Tensor& dy) -> Gradients {
    Tensor dx = Tensor::empty(y.shape());
    parallel_ranges(rows, grain, [&](Index begin, Index end) {
      const Index at = begin * width;
      kernels::unit_vectors_backward(dx.data() + at, dy.data() + at, y.data() + at,
                                     inverse.data() + begin, end - begin, width);
    });
    return {dx};
  });
}

}  // namespace heed::ops
