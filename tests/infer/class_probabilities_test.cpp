#include "heed/infer/class_probabilities.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/base/error.h"
#include "support/expect_error.h"

namespace heed::infer {
namespace {

const std::vector<std::string> labels{"cold", "mild", "warm"};

TEST(ClassProbabilities, ComeWithTheMostLikelyFirst) {
  const std::vector<float> logits{0, 2, 1};
  const auto classes = most_likely_classes(logits, labels, 2);
  ASSERT_EQ(classes.size(), 2u);
  EXPECT_EQ(classes[0].label, "mild");
  EXPECT_EQ(classes[1].label, "warm");
  EXPECT_EQ(classes[0].of_class, 1);
  EXPECT_NEAR(classes[0].probability, std::exp(2) / (1 + std::exp(1) + std::exp(2)), 1e-6);
}

TEST(LabelProbabilities, AreEachForItselfTheMostLikelyFirst) {
  const std::vector<float> logits{-200, std::log(3.0f), 0};
  const auto all = label_probabilities(logits, labels);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].label, "mild");
  EXPECT_NEAR(all[0].probability, 0.75, 1e-6);
  EXPECT_EQ(all[1].of_class, 2);
  EXPECT_EQ(all[1].probability, 0.5);
  EXPECT_NEAR(all[2].probability, 0, 1e-80);
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  expect_error(ErrorKind::model, "model: expected finite logits, found nan", [&] {
    label_probabilities(std::vector<float>{0, nan, 1}, labels);
  });
}

TEST(ClassProbabilities, AreNeverAnEmptyList) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const std::vector<float>& logits :
       {std::vector<float>{nan, nan, nan}, {1, nan, 2}, {1, infinity, 2}}) {
    try {
      most_likely_classes(logits, labels, 3);
      ADD_FAILURE() << "expected an error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::model);
    }
  }
  expect_error(ErrorKind::usage, "`top`: expected a whole number of at least 1, found 0", [] {
    most_likely_classes(std::vector<float>{0, 1, 2}, labels, 0);
  });
}

}  // namespace
}  // namespace heed::infer
