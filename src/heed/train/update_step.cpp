#include "heed/train/update_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "heed/train/memory_need.h"

namespace heed::train {
namespace {

// Without the sign of a NaN, which depends on the processor.
std::string to_text(double value) {
  return std::isnan(value) ? "nan" : fmt::format("{:.4g}", value);
}

}  // namespace

Optimizer make_optimizer(const TrainedParameters& parameters, const TrainingOptions& options) {
  Index count = 0;
  for (const nn::NamedTensor& parameter : parameters.list()) count += parameter.value.size();
  check_memory(optimizer_bytes(count, options),
               "gradients and Adam moments of " + std::to_string(count) + " parameters");
  return Optimizer(parameters.list(), options.optimizer);
}

UpdateReport UpdateStep::run(TrainingState& state, const RateOf& rate_of) {
  UpdateReport report;
  const Batches batches = accumulate_gradients(state, report);
  report.learning_rate = rate_of(report.update);
  apply_gradients(report, batches);
  const auto num_targets = static_cast<double>(report.target_tokens);
  report.loss /= num_targets;
  report.likelihood_loss /= num_targets;
  return report;
}

// Leaves sums over all targets in the report.
UpdateStep::Batches UpdateStep::accumulate_gradients(TrainingState& state, UpdateReport& report) {
  const Index num_batches = task_.num_batches(state.epoch);
  const Index begin = state.batch;
  report.epoch = state.epoch;
  for (Index i = 0; i < options_.accumulate && state.batch < num_batches; ++i, ++state.batch) {
    auto context =
        nn::ForwardContext::training(options_.seed, state.update * options_.accumulate + i);
    parameters_.merge_adapter();
    BatchLoss batch = task_.loss(state.epoch, state.batch, context);
    report.loss += batch.loss.item();
    report.likelihood_loss += batch.negative_log_likelihood;
    report.target_tokens += batch.num_targets;
    report.source_tokens += batch.num_source_tokens;
    backward(batch.loss);
  }
  const Batches batches{state.epoch, begin, state.batch};
  report.update = ++state.update;
  if (state.batch == num_batches) {
    state.batch = 0;
    ++state.epoch;
  }
  return batches;
}

void UpdateStep::apply_gradients(UpdateReport& report, const Batches& batches) {
  report.gradient_norm = std::nan("");
  report.is_applied = false;
  const auto num_targets = static_cast<double>(report.target_tokens);
  if (std::isfinite(report.loss) && report.loss <= task_.max_loss() * num_targets) {
    const Optimizer::Step step = optimizer_.step(report.learning_rate, 1 / num_targets);
    report.gradient_norm = step.gradient_norm;
    report.is_applied = step.is_applied;
  }
  if (!report.is_applied) report.problem = describe_problem(report, batches);
  optimizer_.clear_gradients();
}

// "loss nan, gradient norm nan, not finite in decoder.0.norm.gain; lines 12, 845"
std::string UpdateStep::describe_problem(const UpdateReport& report, const Batches& batches) {
  constexpr Index max_batches = 3;  // of several that are accumulated
  constexpr std::size_t max_names = 3;
  std::ostringstream text;
  text << "loss " << to_text(report.loss) << ", gradient norm " << to_text(report.gradient_norm);
  const std::vector<std::string> names = optimizer_.non_finite_gradients();
  if (!names.empty()) text << ", not finite in " << list_some(names, max_names);
  for (Index batch = batches.begin; batch < std::min(batches.end, batches.begin + max_batches);
       ++batch) {
    text << "; " << task_.describe_batch(batches.epoch, batch);
  }
  return text.str();
}

}  // namespace heed::train
