#include "heed/ops/elementwise.h"

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/kernels/elementwise.h"

namespace heed::ops {
namespace {

constexpr Index grain = 1 << 15;

void check_same(const char* op, const Tensor& a, const Tensor& b) {
  check(a.shape() == b.shape(), op, ": expected equal shapes, got ", a.shape(), " and ", b.shape());
}

// y = kernel(x...) over fixed ranges; every pointer moves along with the range.
template <typename Kernel>
Tensor over_ranges(const Shape& shape, Kernel kernel) {
  Tensor y = Tensor::empty(shape);
  float* out = y.data();
  parallel_ranges(y.size(), grain,
                  [&](Index begin, Index end) { kernel(out + begin, begin, end - begin); });
  return y;
}

using Unary = void (*)(float*, const float*, std::int64_t) noexcept;
using Binary = void (*)(float*, const float*, const float*, std::int64_t) noexcept;

Tensor apply(Unary kernel, const Tensor& x) {
  return over_ranges(x.shape(), [kernel, in = x.data()](float* y, Index begin, Index count) {
    kernel(y, in + begin, count);
  });
}

Tensor apply(Binary kernel, const Tensor& a, const Tensor& b) {
  return over_ranges(
      a.shape(), [kernel, first = a.data(), second = b.data()](float* y, Index begin, Index count) {
        kernel(y, first + begin, second + begin, count);
      });
}

Tensor apply_scale(const Tensor& x, float factor) {
  return over_ranges(x.shape(), [factor, in = x.data()](float* y, Index begin, Index count) {
    kernels::scale(y, in + begin, factor, count);
  });
}

Tensor apply_dropout(const float* residual, const Tensor& x, const kernels::DropoutRule& rule) {
  return over_ranges(x.shape(), [&, in = x.data()](float* y, Index begin, Index count) {
    kernels::add_dropout(y, residual ? residual + begin : nullptr, in + begin, begin, count, rule);
  });
}

kernels::DropoutRule checked_rule(const char* op, const Dropout& options) {
  check(options.probability >= 0 && options.probability < 1, op,
        ": expected a probability in [0, 1), got ", options.probability);
  return kernels::dropout_rule(options.probability, options.key);
}

}  // namespace

Tensor add(const Tensor& a, const Tensor& b) {
  check_same("add", a, b);
  return record(apply(kernels::add, a, b), {a, b}, [](const Tensor& dy) -> Gradients {
    return {dy, dy};
  });
}

Tensor subtract(const Tensor& a, const Tensor& b) {
  check_same("subtract", a, b);
  return record(apply(kernels::subtract, a, b), {a, b}, [](const Tensor& dy) -> Gradients {
    return {dy, apply_scale(dy, -1)};
  });
}

Tensor multiply(const Tensor& a, const Tensor& b) {
  check_same("multiply", a, b);
  return record(apply(kernels::multiply, a, b), {a, b},
                [a = a.detach(), b = b.detach()](const Tensor& dy) -> Gradients {
                  return {apply(kernels::multiply, dy, b), apply(kernels::multiply, dy, a)};
                });
}

Tensor add_scalar(const Tensor& x, float value) {
  Tensor y = over_ranges(x.shape(), [value, in = x.data()](float* out, Index begin, Index count) {
    kernels::add_scalar(out, in + begin, value, count);
  });
  return record(y, {x}, [](const Tensor& dy) -> Gradients { return {dy}; });
}

Tensor scale(const Tensor& x, float factor) {
  return record(apply_scale(x, factor), {x},
                [factor](const Tensor& dy) -> Gradients { return {apply_scale(dy, factor)}; });
}

Tensor sum(const Tensor& x) {
  double total = 0;
  for (Index begin = 0; begin < x.size(); begin += grain) {
    total += kernels::sum(x.data() + begin, std::min(grain, x.size() - begin));
  }
  return record(Tensor::full({}, static_cast<float>(total)), {x},
                [shape = x.shape()](const Tensor& dy) -> Gradients {
                  return {Tensor::full(shape, dy.item())};
                });
}

Tensor reshape(const Tensor& x, const Shape& shape) {
  return record(x.view(shape), {x},
                [from = x.shape()](const Tensor& dy) -> Gradients { return {dy.view(from)}; });
}

Tensor relu(const Tensor& x) {
  Tensor y = apply(kernels::relu, x);
  // dx = dy where y > 0. Needs y only, so x can be freed.
  return record(y, {x}, [y](const Tensor& dy) -> Gradients {
    return {apply(kernels::relu_backward, dy, y)};
  });
}

Tensor gelu(const Tensor& x, GeluForm form) {
  const bool is_exact = form == GeluForm::exact;
  return record(
      apply(is_exact ? kernels::gelu : kernels::gelu_tanh, x), {x},
      [x = x.detach(), is_exact](const Tensor& dy) -> Gradients {
        return {apply(is_exact ? kernels::gelu_backward : kernels::gelu_tanh_backward, dy, x)};
      });
}

Tensor quick_gelu(const Tensor& x) {
  return record(apply(kernels::quick_gelu, x), {x},
                [x = x.detach()](const Tensor& dy) -> Gradients {
                  return {apply(kernels::quick_gelu_backward, dy, x)};
                });
}

Tensor silu(const Tensor& x) {
  return record(apply(kernels::silu, x), {x}, [x = x.detach()](const Tensor& dy) -> Gradients {
    return {apply(kernels::silu_backward, dy, x)};
  });
}

Tensor tanh(const Tensor& x) { return softcap(x, 1); }

Tensor softcap(const Tensor& x, float cap) {
  check(cap > 0, "softcap: expected a cap above 0, got ", cap);
  Tensor y = over_ranges(x.shape(), [cap, in = x.data()](float* out, Index begin, Index count) {
    kernels::softcap(out, in + begin, cap, count);
  });
  return record(y, {x}, [y, cap](const Tensor& dy) -> Gradients {
    return {over_ranges(y.shape(), [&](float* dx, Index begin, Index count) {
      kernels::softcap_backward(dx, dy.data() + begin, y.data() + begin, cap, count);
    })};
  });
}

Tensor swiglu(const Tensor& gate, const Tensor& values) {
  check_same("swiglu", gate, values);
  return multiply(silu(gate), values);
}

Tensor dropout(const Tensor& x, const Dropout& options) {
  const auto rule = checked_rule("dropout", options);
  if (rule.threshold == 0) return x;
  // The backward drops the same elements: the rule generates their mask again.
  return record(apply_dropout(nullptr, x, rule), {x}, [rule](const Tensor& dy) -> Gradients {
    return {apply_dropout(nullptr, dy, rule)};
  });
}

Tensor add_dropout(const Tensor& residual, const Tensor& x, const Dropout& options) {
  check_same("add_dropout", residual, x);
  const auto rule = checked_rule("add_dropout", options);
  if (rule.threshold == 0) return add(residual, x);
  return record(apply_dropout(residual.data(), x, rule), {residual, x},
                [rule](const Tensor& dy) -> Gradients {
                  return {dy, apply_dropout(nullptr, dy, rule)};
                });
}

}  // namespace heed::ops
