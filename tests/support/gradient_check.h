// One comparison that serves every operation and module: values and gradients against a reference.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "heed/core/tensor.h"
#include "support/matrix.h"
#include "support/real.h"
#include "support/sample.h"

namespace heed {

using Inputs = std::vector<Tensor>;
using Operation = std::function<Tensor(const Inputs&)>;

// A tensor as rows of its last axis; an undefined one is an empty matrix.
reference::Matrix<double> matrix_of(const Tensor& tensor);

// Every element within `tolerance` times the largest expected one, or times `size_if_zero` when
// zero is expected everywhere.
void expect_close(const Tensor& found, const std::vector<double>& expected, double tolerance,
                  const std::string& what, double size_if_zero = 0);

namespace detail {

struct ReferenceRun {
  std::vector<double> values;
  std::vector<std::vector<double>> gradients;  // one per input
};

// The weights that turn the results into one number, whose gradient is compared.
std::vector<double> output_weights(std::size_t count);

template <typename Reference>
std::vector<double> reference_values(const Reference& function,
                                     const reference::Matrices<double>& inputs) {
  return function(inputs).values;
}

template <typename Reference>
ReferenceRun run_reference(const Reference& function, const reference::Matrices<double>& inputs) {
  using reference::Matrices, reference::Matrix, reference::Real, reference::tape;
  tape.clear();
  Matrices<Real> variables;
  for (const Matrix<double>& input : inputs) {
    Matrix<Real> variable(input.rows, input.cols);
    for (std::size_t i = 0; i < input.values.size(); ++i) {
      variable.values[i] = Real::variable(input.values[i]);
    }
    variables.push_back(std::move(variable));
  }
  const Matrix<Real> y = function(variables);

  ReferenceRun run;
  for (const Real& value : y.values) run.values.push_back(value.value());
  const std::vector<double> gradients = tape.gradients(y.values, output_weights(y.values.size()));
  for (const Matrix<Real>& variable : variables) {
    std::vector<double> gradient;
    for (const Real& value : variable.values) gradient.push_back(gradients[value.place()]);
    run.gradients.push_back(std::move(gradient));
  }
  tape.clear();
  return run;
}

void expect_same_run(const Operation& operation, const ReferenceRun& expected, const Inputs& inputs,
                     double tolerance);
double weighted_sum(const std::vector<double>& values);
void expect_same_slope(double analytic, double numeric, double largest);

}  // namespace detail

// Runs the operation and backward() under a fixed random weighting of its results, and compares the
// values and the gradient of every input with the reference, relative to the largest element.
// `reference` takes `const Matrices<T>&`, in the order of the inputs, and returns a Matrix<T>.
template <typename Reference>
void expect_matches_reference(const Operation& operation, const Reference& reference,
                              const Inputs& inputs, double tolerance = 1e-5) {
  reference::Matrices<double> matrices;
  for (const Tensor& input : inputs) matrices.push_back(matrix_of(input));
  detail::expect_same_run(operation, detail::run_reference(reference, matrices), inputs, tolerance);
}

// The reference's own gradient against central differences, to 1e-7 of the largest element.
template <typename Reference>
void expect_gradient_is_right(const Reference& reference, const Inputs& inputs) {
  reference::Matrices<double> matrices;
  for (const Tensor& input : inputs) matrices.push_back(matrix_of(input));
  const detail::ReferenceRun run = detail::run_reference(reference, matrices);

  // The error of a central difference is of the order of step^2 and of rounding / step.
  const double step = 1e-5;
  for (std::size_t input = 0; input < matrices.size(); ++input) {
    SCOPED_TRACE("the reference's own gradient of input " + std::to_string(input));
    double largest = 0;
    for (const double slope : run.gradients[input]) largest = std::max(largest, std::abs(slope));
    for (std::size_t i = 0; i < matrices[input].values.size(); ++i) {
      double& x = matrices[input].values[i];
      const double before = x;
      x = before + step;
      const double above = detail::weighted_sum(detail::reference_values(reference, matrices));
      x = before - step;
      const double below = detail::weighted_sum(detail::reference_values(reference, matrices));
      x = before;
      detail::expect_same_slope(run.gradients[input][i], (above - below) / (2 * step), largest);
    }
  }
}

}  // namespace heed
