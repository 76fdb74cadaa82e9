// Layer norm and RMS norm of rows, with a learned gain and, for layer norm, mostly a bias.
#pragma once

#include "heed/nn/initializer.h"
#include "heed/nn/module.h"

namespace heed::nn {

enum class NormKind { layer, rms };
enum class NormPlace { before, after, around };  // the sub-layer; around is before and after it

struct NormOptions {
  NormKind kind = NormKind::layer;
  float epsilon = 1e-5f;         // added to the variance or to the mean square
  bool has_bias = true;          // of layer norm; RMS norm has none
  bool has_unit_offset = false;  // the parameter is the gain minus 1 (Gemma)
};

class Norm {
 public:
  Norm() = default;
  Norm(const NormOptions& options, Index dim, const Initializer& initializer);  // gain 1, bias 0
  Norm(NormKind kind, Index dim, const Initializer& initializer)
      : Norm(NormOptions{.kind = kind}, dim, initializer) {}

  Tensor forward(const Tensor& x) const;  // [N, D] -> [N, D]
  void visit_parameters(ParameterVisitor& visitor);

 private:
  NormOptions options_;
  Tensor gain_;  // [D]
  Tensor bias_;  // [D], or undefined
};

}  // namespace heed::nn
