#include "heed/train/trainer.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"

namespace heed::train {
namespace {

// Updates in a row without a finite loss or gradient before the run is given up.
constexpr Index max_skipped_in_a_row = 5;

constexpr const char* hint =
    "; try a lower --learning-rate, a longer --warm-up or a smaller --clip";

// How many updates the whole run has; 0 when only the clock will tell.
Index count_updates(const TrainingOptions& options, TrainingTask& task) {
  const Index by_updates = options.after.updates.value_or(0);
  if (!options.after.epochs) return by_updates;
  Index by_epochs = 0;
  for (Index epoch = 0; epoch < *options.after.epochs; ++epoch) {
    by_epochs += (task.num_batches(epoch) + options.accumulate - 1) / options.accumulate;
    if (by_updates > 0 && by_epochs >= by_updates) return by_updates;
  }
  return by_epochs;
}

// Only the schedules that end need the count, and counting takes a while.
Schedule make_schedule(const TrainingOptions& options, TrainingTask& task) {
  const bool ends = options.schedule.kind == ScheduleKind::cosine ||
                    options.schedule.kind == ScheduleKind::linear;
  return Schedule(options.schedule, ends ? count_updates(options, task) : 0);
}

}  // namespace

Trainer::Trainer(TrainingTask& task, const TrainingFolder& folder, RunDescription run,
                 const Checkpoint* checkpoint, TrainingObserver& observer)
    : task_(task),
      folder_(folder),
      run_(std::move(run)),
      options_(run_.recipe.training),
      observer_(observer),
      optimizer_(task.parameters(), options_.optimizer),
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
    snapshots_.keep(0, optimizer_.parameters());  // nothing learned yet
    save();
  }
}

RunEnd Trainer::run() {
  run_.state.is_finished = false;  // a longer --after may go on where a shorter one ended
  while (true) {
    if (!keep_up()) break;
    if (is_at_end()) {
      if (!finish()) break;
      const RunEnd end = stopping_.is_exhausted() ? RunEnd::stopped_early : RunEnd::finished;
      observer_.on_finish(end);
      return end;
    }
    if (observer_.should_stop()) break;
    run_update();
  }
  save();
  observer_.on_finish(RunEnd::interrupted);
  return RunEnd::interrupted;
}

bool Trainer::is_due(const RunLength& interval) const {
  const TrainingState& state = run_.state;
  if (state.update == 0) return false;
  if (interval.epochs) return state.batch == 0 && state.epoch % *interval.epochs == 0;
  return state.update % *interval.updates == 0;
}

// Never before the first update, even if the time is over by then: there would be no model.
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
  TrainingState& state = run_.state;
  const Index num_batches = task_.num_batches(state.epoch);
  UpdateReport report;
  report.epoch = state.epoch;
  for (Index i = 0; i < options_.accumulate && state.batch < num_batches; ++i, ++state.batch) {
    auto context =
        nn::ForwardContext::training(options_.seed, state.update * options_.accumulate + i);
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

  report.learning_rate = schedule_.rate(state.update, share_of_time());
  const auto tokens = static_cast<double>(report.target_tokens);
  report.gradient_norm = std::nan("");
  report.is_applied = false;
  if (std::isfinite(report.loss)) {
    const Optimizer::Step step = optimizer_.step(report.learning_rate, 1 / tokens);
    report.gradient_norm = step.gradient_norm;
    report.is_applied = step.is_applied;
  }
  optimizer_.clear_gradients();
  if (ema_ && report.is_applied) ema_->update(optimizer_.parameters(), optimizer_.num_steps());

  report.loss /= tokens;
  report.likelihood_loss /= tokens;
  state.target_tokens += report.target_tokens;
  report.seconds = seconds();
  log_.add(report);
  observer_.on_update(report);
  count_skipped_update(report.is_applied);
}

void Trainer::count_skipped_update(bool is_applied) {
  TrainingState& state = run_.state;
  state.skipped_in_a_row = is_applied ? 0 : state.skipped_in_a_row + 1;
  check_as(ErrorKind::diverged, state.skipped_in_a_row < max_skipped_in_a_row,
           "training diverged: expected a finite loss and gradient, found none in the ",
           max_skipped_in_a_row, " updates up to ", state.update, hint);
}

bool Trainer::keep_up() {
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
  snapshots_.delete_forgotten();
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
  if (task_.has_validation()) observer_.on_validation_start(run_.state.update);
  ValidationReport report;
  report.update = run_.state.update;
  report.epoch = run_.state.epoch;
  const std::optional<Weights> average = averaged_weights();
  std::optional<BorrowedWeights> borrowed;
  if (average) borrowed.emplace(optimizer_.parameters(), *average);
  if (task_.has_validation()) {
    if (!measure(report, borrowed)) return false;
    if (!task_.add_scores(report, [this] { return observer_.should_stop(); })) return false;
    report.is_best = stopping_.observe(report.loss, report.bleu ? report.bleu : report.accuracy);
  }

  if (report.is_best) task_.save_model(folder_.model());
  run_.state.validated_update = run_.state.update;
  if (task_.has_validation()) {
    report.seconds = seconds();
    log_.add(report);
    observer_.on_validation(report);
  }
  return true;
}

// Leaves the model with its latest weights if the averaged ones that it has borrowed are worse:
// early in a run, when weights move fast, their average is worse than any of them.
bool Trainer::measure(ValidationReport& report, std::optional<BorrowedWeights>& borrowed) const {
  const auto loss = [&] {
    return task_.validation_loss([this] { return observer_.should_stop(); });
  };
  std::optional<double> average_loss;
  if (borrowed) {
    average_loss = loss();
    if (!average_loss) return false;
    borrowed->swap();
  }
  const std::optional<double> latest_loss = loss();
  if (!latest_loss) return false;
  report.latest_loss = *latest_loss;
  report.is_average = average_loss && *average_loss < *latest_loss;
  if (report.is_average) borrowed->swap();
  report.loss = report.is_average ? *average_loss : *latest_loss;
  check_as(ErrorKind::diverged, std::isfinite(report.loss),
           "training diverged: expected a finite validation loss, found ", report.loss,
           " after update ", report.update, hint);
  report.perplexity = std::exp(report.loss);
  return true;
}

}  // namespace heed::train
