// A model whose weights are finite, but so large that everything it computes is NaN or infinite.
#pragma once

#include <algorithm>

#include "heed/nn/module.h"

namespace heed::models {

// Takes a model that no one else shares.
template <typename Model>
Model overflowing(Model model) {
  for (nn::NamedTensor& parameter : nn::named_parameters(model)) {
    std::ranges::fill(parameter.value.values(), 3e38f);
  }
  return model;
}

}  // namespace heed::models
