#include "heed/nn/patch_embedding.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "nn/module_parameters.h"
#include "support/reference.h"

namespace heed::nn {
namespace {

TEST(PatchEmbedding, NamesItsParameters) {
  Rng rng(1);
  PatchEmbedding embedding(4, 6, 8, rng);
  EXPECT_EQ(parameter_names(embedding),
            (std::vector<std::string>{"projection.weight", "projection.bias"}));
}

TEST(PatchEmbedding, MakesASequenceOfEachImage) {
  Rng rng(1);
  const PatchEmbedding embedding(4, 6, 8, rng);
  const Packed embedded = embedding.forward(sample({12, 6}));
  EXPECT_EQ(embedded.values.shape(), (Shape{12, 8}));
  ASSERT_EQ(embedded.spans.count(), 3);
  EXPECT_EQ(embedded.spans[2].begin, 8);
  EXPECT_EQ(embedded.spans[2].length, 4);
}

TEST(PatchEmbedding, ValuesAndGradientsMatchTheReference) {
  Rng rng(1);
  PatchEmbedding embedding(2, 3, 5, rng);
  expect_matches_reference(
      [&](const Inputs& in) {
        set_parameters(embedding, std::span(in).subspan(1));
        return embedding.forward(in[0]).values;
      },
      [](const auto& in) { return reference::linear(in[0], in[1], in[2]); },
      sample_inputs(embedding, sample({4, 3})));
}

TEST(PatchEmbedding, RefusesOtherWidthsAndHalvesOfImages) {
  Rng rng(1);
  const PatchEmbedding embedding(4, 6, 8, rng);
  EXPECT_THROW(embedding.forward(sample({12, 5})), Error);
  EXPECT_THROW(embedding.forward(sample({10, 6})), Error);
}

}  // namespace
}  // namespace heed::nn
