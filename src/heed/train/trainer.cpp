#include "heed/train/trainer.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "heed/base/cancellation.h"
#include "heed/base/error.h"

namespace heed::train {
namespace {

// Updates in a row without a finite loss or gradient before the run is given up.
constexpr Index max_skipped_in_a_row = 5;

constexpr const char* hint =
    "; try a lower `learning_rate`, a longer `warm_up` or a smaller `clip`";

// Updates of the whole run; 0 when the clock alone ends it.
Index count_updates(const TrainingOptions& options, Task& task) {
  const Index by_updates = options.after.updates.value_or(0);
  if (!options.after.epochs) return by_updates;
  Index by_epochs = 0;
  for (Index epoch = 0; epoch < *options.after.epochs; ++epoch) {
    check_cancelled();
    by_epochs += (task.num_batches(epoch) + options.accumulate - 1) / options.accumulate;
    if (by_updates > 0 && by_epochs >= by_updates) return by_updates;
  }
  return by_epochs;
}

// Only the schedules that end need the count, and counting takes time.
Schedule make_schedule(const TrainingOptions& options, Task& task) {
  const bool ends = options.schedule.kind == ScheduleKind::cosine ||
                    options.schedule.kind == ScheduleKind::linear;
  return Schedule(options.schedule, ends ? count_updates(options, task) : 0);
}

// False: stopped. The work changes nothing then.
bool run_unless_stopped(TrainingObserver& observer, const std::function<void()>& work) {
  try {
    const CancellationScope scope([&] { return observer.should_stop(); });
    work();
    return true;
  } catch (const Cancelled&) {
    return false;
  }
}

}  // namespace

Trainer::Trainer(Task& task, const TrainedParameters& parameters, const TrainingFolder& folder,
                 RunDescription run, const Checkpoint* checkpoint, TrainingObserver& observer)
    : task_(task),
      parameters_(parameters),
      folder_(folder),
      run_(std::move(run)),
      options_(run_.recipe.training),
      observer_(observer),
      optimizer_(parameters.list(), options_.optimizer),
      schedule_(make_schedule(options_, task)),
      stopping_(options_.early_stopping, options_.patience),
      snapshots_(folder.snapshots(),
                 {.averaged = options_.average > 1 ? options_.average : 0, .kept = options_.keep},
                 run_.state.snapshots),
      log_(folder.metrics(), run_.state.update, run_.state.validated_update),
      seconds_before_(run_.state.seconds),
      start_(std::chrono::steady_clock::now()) {
  if (options_.ema > 0) ema_.emplace(optimizer_.parameters(), options_.ema);
  stopping_.state = run_.state.stopping;
  if (checkpoint) {
    checkpoint->restore(optimizer_, ema_ ? &*ema_ : nullptr);
    saved_update_ = run_.state.update;
  } else {
    snapshots_.keep(0, optimizer_.parameters());  // the initial weights
    save();
  }
}

RunEnd Trainer::run() {
  run_.state.is_finished = false;  // a finished run may be resumed with a longer `after`
  while (true) {
    if (!save_and_validate_if_due()) break;
    if (is_at_end()) {
      if (!finish()) break;
      const RunEnd end = stopping_.is_exhausted() ? RunEnd::stopped_early : RunEnd::finished;
      observer_.on_finish(end);
      return end;
    }
    if (observer_.should_stop() || !prepare_epoch()) break;
    run_update();
  }
  save();
  observer_.on_finish(RunEnd::interrupted);
  return RunEnd::interrupted;
}

// With BPE-dropout all text is segmented again in every epoch, which takes a while.
bool Trainer::prepare_epoch() {
  return run_unless_stopped(observer_, [this] { task_.num_batches(run_.state.epoch); });
}

bool Trainer::is_due(const RunLength& interval) const {
  const TrainingState& state = run_.state;
  if (state.update == 0) return false;
  if (interval.epochs) return state.batch == 0 && state.epoch % *interval.epochs == 0;
  return state.update % *interval.updates == 0;
}

// Never before the first update, even if the time is over by then: no model would be saved.
bool Trainer::is_at_end() const {
  if (run_.state.update == 0) return false;
  return stopping_.is_exhausted() ||
         is_reached(options_.after, {run_.state.epoch, run_.state.update, seconds()});
}

double Trainer::seconds() const {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
  return seconds_before_ + passed.count();
}

double Trainer::share_of_time() const {
  return options_.after.minutes ? seconds() / (*options_.after.minutes * 60) : 0;
}

double Trainer::share_done() {
  const RunLength& after = options_.after;
  double share = share_of_time();
  if (after.epochs) {
    const double epochs = static_cast<double>(run_.state.epoch) +
                          static_cast<double>(run_.state.batch) /
                              static_cast<double>(task_.num_batches(run_.state.epoch));
    share = std::max(share, epochs / static_cast<double>(*after.epochs));
  }
  if (after.updates) {
    share = std::max(share,
                     static_cast<double>(run_.state.update) / static_cast<double>(*after.updates));
  }
  return std::min(share, 1.0);
}

void Trainer::run_update() {
  UpdateReport report;
  accumulate_gradients(report);
  apply_gradients(report);
  report_update(report);
}

// Leaves sums over all targets in the report. The state moves to the next update.
void Trainer::accumulate_gradients(UpdateReport& report) {
  TrainingState& state = run_.state;
  const Index num_batches = task_.num_batches(state.epoch);
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
  report.update = ++state.update;
  report.share_done = share_done();
  if (state.batch == num_batches) {
    state.batch = 0;
    ++state.epoch;
  }
}

// An update whose loss or gradient is not finite is skipped.
void Trainer::apply_gradients(UpdateReport& report) {
  report.learning_rate = schedule_.rate(report.update, share_of_time());
  report.gradient_norm = std::nan("");
  report.is_applied = false;
  if (std::isfinite(report.loss)) {
    const auto num_targets = static_cast<double>(report.target_tokens);
    const Optimizer::Step step = optimizer_.step(report.learning_rate, 1 / num_targets);
    report.gradient_norm = step.gradient_norm;
    report.is_applied = step.is_applied;
  }
  optimizer_.clear_gradients();
  if (ema_ && report.is_applied) ema_->update(optimizer_.parameters(), optimizer_.num_steps());
}

void Trainer::report_update(UpdateReport report) {
  const auto num_targets = static_cast<double>(report.target_tokens);
  report.loss /= num_targets;
  report.likelihood_loss /= num_targets;
  run_.state.target_tokens += report.target_tokens;
  report.seconds = seconds();
  log_.add(report);
  observer_.on_update(report);
  check_divergence(report.is_applied);
}

void Trainer::check_divergence(bool is_applied) {
  TrainingState& state = run_.state;
  state.skipped_in_a_row = is_applied ? 0 : state.skipped_in_a_row + 1;
  check_as(ErrorKind::diverged, state.skipped_in_a_row < max_skipped_in_a_row,
           "training diverged: expected a finite loss and gradient, found none in the ",
           max_skipped_in_a_row, " updates up to ", state.update, hint);
}

bool Trainer::save_and_validate_if_due() {
  const Index update = run_.state.update;
  const bool is_save_due = is_due(options_.save_every);
  if (is_save_due) snapshots_.add(update, optimizer_.parameters());
  if (is_due(options_.validate_every) && run_.state.validated_update != update) {
    if (!validate_and_export()) return false;
  }
  if (is_save_due && saved_update_ != update) save();
  return true;
}

bool Trainer::finish() {
  if (run_.state.validated_update != run_.state.update && !validate_and_export()) return false;
  run_.state.is_finished = true;
  save();
  return true;
}

void Trainer::save() {
  log_.sync();
  run_.state.seconds = seconds();
  run_.state.optimizer_steps = optimizer_.num_steps();
  run_.state.stopping = stopping_.state;
  run_.state.snapshots = snapshots_.updates();
  save_checkpoint(folder_.checkpoint(), run_, optimizer_, ema_ ? &*ema_ : nullptr);
  snapshots_.delete_unlisted();
  saved_update_ = run_.state.update;
}

std::optional<Weights> Trainer::averaged_weights() const {
  if (ema_) return ema_->weights();
  if (snapshots_.has_averaged_before(run_.state.update)) {
    return snapshots_.average(run_.state.update, optimizer_.parameters());
  }
  return std::nullopt;
}

bool Trainer::validate_and_export() {
  const bool has_validation = task_.num_validation_batches() > 0;
  if (has_validation) observer_.on_validation_start(run_.state.update);
  ValidationReport report;
  report.update = run_.state.update;
  report.epoch = run_.state.epoch;
  std::optional<Weights> averaged;
  if (!run_unless_stopped(observer_, [&] { averaged = averaged_weights(); })) return false;
  std::optional<BorrowedWeights> average;
  if (averaged) average.emplace(optimizer_.parameters(), std::move(*averaged));
  if (has_validation) {
    if (!measure_loss(report, average) || !add_scores(report)) return false;
    report.is_best = stopping_.observe(report.loss, report.bleu ? report.bleu : report.accuracy);
  }

  if (report.is_best) save_model();
  run_.state.validated_update = run_.state.update;
  if (has_validation) {
    report.seconds = seconds();
    log_.add(report);
    observer_.on_validation(report);
  }
  return true;
}

// Leaves the model with its latest weights if these have the lower loss: early in a run, when
// weights change fast, their average is worse than any of them.
bool Trainer::measure_loss(ValidationReport& report, std::optional<BorrowedWeights>& average) {
  std::optional<double> average_loss;
  if (average) {
    average_loss = validation_loss();
    if (!average_loss) return false;
    average->swap();
  }
  const std::optional<double> latest_loss = validation_loss();
  if (!latest_loss) return false;
  report.latest_loss = *latest_loss;
  report.is_average = average_loss && *average_loss < *latest_loss;
  if (report.is_average) average->swap();
  report.loss = report.is_average ? *average_loss : *latest_loss;
  check_as(ErrorKind::diverged, std::isfinite(report.loss),
           "training diverged: expected a finite validation loss, found ", report.loss,
           " after update ", report.update, hint);
  report.perplexity = std::exp(report.loss);
  return true;
}

// The mean of -log p over all targets of the validation data.
std::optional<double> Trainer::validation_loss() {
  const NoGrad no_grad;
  parameters_.merge_adapter();
  double loss = 0;
  Index num_targets = 0;
  for (Index i = 0; i < task_.num_validation_batches(); ++i) {
    if (observer_.should_stop()) return std::nullopt;
    auto context = nn::ForwardContext::inference();
    const BatchLoss batch = task_.validation_loss(i, context);
    loss += batch.negative_log_likelihood;
    num_targets += batch.num_targets;
  }
  return loss / static_cast<double>(num_targets);
}

bool Trainer::add_scores(ValidationReport& report) {
  const NoGrad no_grad;
  parameters_.merge_adapter();
  return task_.add_scores(report, [this] { return observer_.should_stop(); });
}

void Trainer::save_model() {
  const NoGrad no_grad;
  parameters_.merge_adapter();
  folder_.check_in_place();
  task_.save_model(folder_.model());
  parameters_.save_adapter(folder_.model());
}

}  // namespace heed::train
