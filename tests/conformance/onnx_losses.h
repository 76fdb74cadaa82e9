// ONNX losses through our operations.
#pragma once

#include <optional>

#include "conformance/onnx_layers.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/embedding.h"

namespace heed::onnx {

// The parts that both losses share: scores [N, C, d1 ...], targets [N, d1 ...], class weights [C].
struct LossProblem {
  Tensor rows;  // [N * d1 ..., C]
  std::vector<int> targets;
  std::vector<float> weights;  // or none
  std::optional<int> ignore;
  ops::Reduction reduction;
};

inline ops::Reduction reduction_of(const std::string& name) {
  if (name == "none") return ops::Reduction::none;
  if (name == "sum") return ops::Reduction::sum;
  check(name == "mean", "reduction: expected none, sum or mean, found ", name);
  return ops::Reduction::mean;
}

inline LossProblem loss_problem(Case& c) {
  c.check_inputs_at_most(3);
  const Array &scores = c.input(0), &targets = c.input(1);
  const Array* weights = c.optional_input(2);
  const Array rows = transposed(scores, with_axis_last(1, scores.shape.size()));
  LossProblem problem{rows.matrix(product(targets.shape), scores.shape[1]),
                      {targets.data.begin(), targets.data.end()},
                      weights ? weights->floats() : std::vector<float>(),
                      std::nullopt,
                      reduction_of(c.attributes.get<std::string>("reduction", "mean"))};
  const int ignore = c.attributes.get<int>("ignore_index", 0);
  if (c.attributes.has("ignore_index")) problem.ignore = ignore;
  return problem;
}

inline Array loss_array(const Tensor& loss, const LossProblem& problem, const Array& targets) {
  return array_of(loss, problem.reduction == ops::Reduction::none ? targets.shape : Sizes{});
}

inline Results run_softmax_cross_entropy(Case& c) {
  const LossProblem problem = loss_problem(c);
  const Tensor loss = ops::cross_entropy(problem.rows, problem.targets,
                                         {.label_smoothing = 0,
                                          .ignore = problem.ignore,
                                          .class_weights = problem.weights,
                                          .reduction = problem.reduction});
  return {loss_array(loss, problem, c.input(1)), along_axis(c.input(0), 1, ops::log_softmax)};
}

// The scores are log-probabilities already, normalised or not: -weight * score[target].
inline Results run_negative_log_likelihood(Case& c) {
  const LossProblem problem = loss_problem(c);
  const Index count = problem.rows.dim(0), classes = problem.rows.dim(1);
  std::vector<Index> places;
  std::vector<float> factors;
  float total_weight = 0;
  for (Index row = 0; row < count; ++row) {
    const int target = problem.targets[row];
    const bool is_ignored = problem.ignore == target;
    const float weight =
        is_ignored ? 0 : (problem.weights.empty() ? 1 : problem.weights.at(target));
    places.push_back(row * classes + (is_ignored ? 0 : target));
    factors.push_back(-weight);
    total_weight += weight;
  }
  const Tensor chosen = ops::gather_rows(problem.rows.view({count * classes, 1}), places);
  Tensor loss = ops::multiply(chosen, Tensor::from(factors, {count, 1}));
  if (problem.reduction != ops::Reduction::none) loss = ops::sum(loss);
  if (problem.reduction == ops::Reduction::mean) loss = ops::scale(loss, 1 / total_weight);
  return {loss_array(loss, problem, c.input(1))};
}

}  // namespace heed::onnx
