#include "support/gradient_check.h"

#include <algorithm>
#include <cmath>

namespace heed {

reference::Matrix<double> matrix_of(const Tensor& tensor) {
  if (!tensor.is_defined()) return {};
  const Index cols = tensor.rank() == 0 ? 1 : tensor.dim(-1);
  const Index rows = cols == 0 ? 0 : tensor.size() / cols;
  reference::Matrix<double> matrix(rows, cols);
  std::copy(tensor.values().begin(), tensor.values().end(), matrix.values.begin());
  return matrix;
}

void expect_close(const Tensor& found, const std::vector<double>& expected, double tolerance,
                  const std::string& what, double size_if_zero) {
  ASSERT_TRUE(found.is_defined() || expected.empty()) << what << ": nothing there";
  ASSERT_EQ(found.size(), static_cast<Index>(expected.size())) << what << ": other size";
  double largest = 0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  if (largest == 0) largest = size_if_zero;
  for (Index i = 0; i < found.size(); ++i) {
    const double difference = std::abs(found.values()[i] - expected[i]);
    // One report is enough; written so that NaN fails.
    if (!(difference <= tolerance * largest)) {
      FAIL() << what << ": element " << i << " is " << found.values()[i] << ", expected "
             << expected[i] << " (difference " << difference << ", largest element " << largest
             << ")";
    }
  }
}

namespace detail {

std::vector<double> output_weights(std::size_t count) {
  Rng rng(random_key(7, 7, count));
  std::vector<double> weights(count);
  // Exact as floats, so that both sides weigh with the same numbers.
  for (double& weight : weights) weight = static_cast<float>(rng.normal());
  return weights;
}

void expect_same_run(const Operation& operation, const ReferenceRun& expected, const Inputs& inputs,
                     double tolerance) {
  Inputs leaves;
  for (const Tensor& input : inputs) {
    leaves.push_back(input.clone());
    leaves.back().require_gradient();
  }
  const Tensor y = operation(leaves);
  expect_close(y, expected.values, tolerance, "values");
  if (y.size() != static_cast<Index>(expected.values.size())) return;

  const std::vector<double> weights = output_weights(expected.values.size());
  const std::vector<float> dy(weights.begin(), weights.end());
  backward(y, Tensor::from(dy, y.shape()));
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    ASSERT_TRUE(leaves[i].gradient().is_defined()) << "input " << i << " got no gradient";
    EXPECT_EQ(leaves[i].gradient().shape(), leaves[i].shape());
    // Where everything cancels, rounding is measured against the gradient that came in: about 1.
    expect_close(leaves[i].gradient(), expected.gradients[i], tolerance,
                 "gradient of input " + std::to_string(i), 1);
  }
}

double weighted_sum(const std::vector<double>& values) {
  const std::vector<double> weights = output_weights(values.size());
  double total = 0;
  for (std::size_t i = 0; i < values.size(); ++i) total += weights[i] * values[i];
  return total;
}

void expect_same_slope(double analytic, double numeric, double largest) {
  EXPECT_NEAR(analytic, numeric, 1e-7 * largest);
}

}  // namespace detail
}  // namespace heed
