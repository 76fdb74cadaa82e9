// The backward of y = x weight^T + bias.
#pragma once

#include "heed/core/tensor.h"

namespace heed::ops {

struct LinearGradients {
  Tensor dx;       // dy weight, [N, I]; undefined unless wanted
  Tensor dweight;  // dy^T x, [O, I]; undefined unless wanted
  Tensor dbias;    // the sum of dy over its rows, [O]; undefined unless wanted
};

struct LinearBackwardOptions {
  bool wants_dx = true;
  bool wants_dweight = true;
  bool wants_dbias = false;
  Tensor dx_so_far = {};  // [N, I], added to in place; undefined: nothing yet
};

// dy [N, O], x [N, I], weight [O, I].
LinearGradients linear_backward(const Tensor& dy, const Tensor& x, const Tensor& weight,
                                const LinearBackwardOptions& options);

}  // namespace heed::ops
