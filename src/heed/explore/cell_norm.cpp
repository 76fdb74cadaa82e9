#include "heed/explore/cell_norm.h"

#include "heed/explore/exact_arithmetic.h"

namespace heed::explore {
namespace {

// As it is multiplied by: of some models the parameter is the gain minus 1.
Floats gain_of(const CellPass& pass, const CellNorm& norm) {
  const Tensor parameter = pass.parameter(norm.name + ".gain");
  Floats gain = to_floats(parameter.values());
  if (!pass.stack_options().has_norm_unit_offset) return gain;
  for (float& value : gain) value += 1;
  return gain;
}

Floats bias_of(const CellPass& pass, const CellNorm& norm) {
  const Tensor bias = pass.parameter(norm.name + ".bias");
  return bias.is_defined() ? to_floats(bias.values()) : Floats{};
}

}  // namespace

CellStep norm_step(const CellPass& pass, const CellNorm& norm, FloatSpan x) {
  const nn::NormOptions options = pass.stack_options().norm();
  const bool is_rms = options.kind == nn::NormKind::rms;
  const Floats gain = gain_of(pass, norm), bias = bias_of(pass, norm);
  NormSteps steps = is_rms ? rms_norm_steps(x, gain, options.epsilon)
                           : layer_norm_steps(x, gain, bias, options.epsilon);
  CellStep step{.id = norm.id,
                .side = norm.side,
                .variant = is_rms ? "rms" : "layer",
                .rows = {{"x", to_floats(x)}, {"gain", gain}, {"epsilon", {options.epsilon}}},
                .result = std::move(steps.result)};
  if (!bias.empty()) step.rows.push_back({"bias", bias});
  if (!is_rms) step.rows.push_back({"mean", {steps.mean}});
  step.rows.push_back({"squares", {steps.squares}});
  step.rows.push_back({"inverse", {steps.inverse}});
  return step;
}

}  // namespace heed::explore
