#include "heed/nn/embedding.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/random.h"
#include "nn/module_parameters.h"
#include "support/reference.h"

namespace heed::nn {
namespace {

TEST(Embedding, NamesItsTableAndBeginsWithRowsOfLengthOne) {
  Rng rng(1);
  Embedding embedding(200, 64, rng);
  EXPECT_EQ(parameter_names(embedding), (std::vector<std::string>{"weight"}));
  double square = 0;
  for (const float w : embedding.weight().values.values()) square += w * w / 200.0;
  EXPECT_NEAR(square, 1, 0.05);
}

TEST(Embedding, ValuesAndGradientsMatchTheReference) {
  Rng rng(1);
  Embedding embedding(5, 3, rng);
  const std::vector<int> ids{4, 0, 4};
  expect_matches_reference(
      [&](const Inputs& in) {
        set_parameters(embedding, in);
        return embedding.forward(ids, 2.5f);
      },
      [&](const auto& in) { return reference::embedding(in[0], std::span(ids), 2.5); },
      {sample({5, 3})});
}

}  // namespace
}  // namespace heed::nn
