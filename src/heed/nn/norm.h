// Layer norm and RMS norm of rows, with a learned gain and, for layer norm, a bias.
#pragma once

#include "heed/nn/initializer.h"
#include "heed/nn/module.h"

namespace heed::nn {

enum class NormKind { layer, rms };
enum class NormPlace { before, after };  // of the sub-layer

class Norm {
 public:
  Norm() = default;
  Norm(NormKind kind, Index dim, const Initializer& initializer);  // gain 1, bias 0

  Tensor forward(const Tensor& x) const;  // [N, D] -> [N, D]
  void visit_parameters(ParameterVisitor& visitor);

 private:
  NormKind kind_ = NormKind::layer;
  Tensor gain_;  // [D]
  Tensor bias_;  // [D]; undefined for rms
};

}  // namespace heed::nn
