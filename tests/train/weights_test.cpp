#include "heed/train/weights.h"

#include <gtest/gtest.h>

#include <limits>

#include "heed/base/error.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace heed::train {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float largest = std::numeric_limits<float>::max();

Weights sample_weights() {
  return {{"small", Tensor::full({3}, 1)}, {"large", Tensor::full({300, 301}, largest)}};
}

TEST(FirstNonFinite, FindsOneValueAnywhere) {
  EXPECT_EQ(first_non_finite({}), std::nullopt);
  EXPECT_EQ(first_non_finite(sample_weights()), std::nullopt);
  for (const float bad : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()}) {
    for (const Index place : {0, 40000, 300 * 301 - 1}) {
      Weights weights = sample_weights();
      weights[1].value.data()[place] = bad;
      EXPECT_EQ(first_non_finite(weights), "large");
      weights[0].value.data()[1] = bad;
      EXPECT_EQ(first_non_finite(weights), "small");
    }
  }
}

TEST(WeightsWriter, RefusesValuesThatAreNotFinite) {
  Weights weights = sample_weights();
  weights[0].value.data()[1] = infinity;
  WeightsWriter writer;
  try {
    writer.add("adam.square.", weights);
    ADD_FAILURE() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::diverged);
    EXPECT_STREQ(error.what(),
                 "training diverged: expected finite numbers to save, found others in "
                 "adam.square.small");
  }
}

TEST(ReadWeights, RefusesATensorOfTooManyAxesByFileAndName) {
  const TemporaryFolder folder;
  const std::string path = folder.file("weights.safetensors");
  const float value = 1;
  const std::vector<std::int64_t> axes(Shape::max_rank + 1, 1);
  io::write_safetensors(path, std::vector{io::float_record("small", axes, {&value, 1})});
  Weights weights{{"small", Tensor::full({1}, 0)}};
  expect_error(ErrorKind::model, path + ": small: expected at most 6 axes, found 7",
               [&] { read_weights(io::SafetensorsFile::load(path), "", weights); });
}

TEST(ReadWeights, RefusesAnotherShapeOfAsManyValues) {
  const TemporaryFolder folder;
  const Weights stored{{"w", Tensor::full({2, 3}, 1)}};
  WeightsWriter writer;
  writer.add("", stored);
  writer.write(folder.file("weights"), {});
  const io::SafetensorsFile file = load_checked(folder.file("weights"));
  Weights same{{"w", Tensor::zeros({2, 3})}}, other{{"w", Tensor::zeros({3, 2})}};
  read_weights(file, "", same);
  EXPECT_EQ(same[0].value.values()[5], 1);
  EXPECT_THROW(read_weights(file, "", other), Error);
}

}  // namespace
}  // namespace heed::train
