// Every parameter of a model gets the same gradient, to the bit, whatever the number of threads.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "heed/base/parallel.h"
#include "heed/nn/forward_context.h"
#include "heed/nn/module.h"
#include "support/same_bits.h"

namespace heed::models {

// make() builds the model, the same every time.
template <typename Make, typename Batch>
std::vector<Tensor> gradients_with_threads(int threads, const Make& make, const Batch& batch) {
  const int before = num_threads();
  set_num_threads(threads);
  auto model = make();
  auto context = nn::ForwardContext::training(1, 7);
  backward(model.loss(batch, context).loss);
  set_num_threads(before);
  std::vector<Tensor> found;
  for (nn::NamedTensor& parameter : nn::named_parameters(model)) {
    found.push_back(parameter.value.gradient());
  }
  return found;
}

template <typename Make, typename Batch>
void expect_same_gradients_for_any_threads(const Make& make, const Batch& batch) {
  const auto one = gradients_with_threads(1, make, batch);
  const auto three = gradients_with_threads(3, make, batch);
  for (std::size_t i = 0; i < one.size(); ++i) {
    ASSERT_TRUE(one[i].is_defined()) << "parameter " << i << " has no gradient";
    EXPECT_TRUE(same_bits(one[i], three[i])) << "parameter " << i;
  }
}

}  // namespace heed::models
