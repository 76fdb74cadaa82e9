#include "heed/nn/weight.h"

#include "heed/ops/linear.h"

namespace heed::nn {

Tensor linear(const Tensor& x, const Weight& weight, const Tensor& bias) {
  return weight.use_packed() ? ops::linear(x, weight.packed, bias)
                             : ops::linear(x, weight.values, bias);
}

}  // namespace heed::nn
