#include "heed/train/trainer.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <new>

#include "heed/base/cancellation.h"
#include "heed/base/error.h"
#include "heed/base/memory.h"
#include "heed/base/printable.h"
#include "heed/core/storage.h"
#include "heed/io/files.h"
#include "heed/train/run_plan.h"
#include "heed/train/task_types.h"
#include "heed/train/write_retry.h"

namespace heed::train {
namespace {

constexpr const char* hint =
    "; try a lower `learning_rate`, a longer `warm_up` or a smaller `clip`";

// Updates of the whole run, or `limit` if there are more; 0 when the clock alone ends it.
Index count_updates(const TrainingOptions& options, Task& task, Index limit) {
  const Index by_updates = options.after.updates.value_or(0);
  if (!options.after.epochs) return by_updates;
  if (by_updates > 0) limit = std::min(limit, by_updates);
  Index by_epochs = 0;
  for (Index epoch = 0; epoch < *options.after.epochs && by_epochs < limit; ++epoch) {
    check_cancelled();
    by_epochs += (task.num_batches(epoch) + options.accumulate - 1) / options.accumulate;
  }
  return std::min(by_epochs, limit);
}

// Counting takes time. Schedules without an end need to know only whether the run is long enough
// for their warm-up.
Schedule make_schedule(const TrainingOptions& options, Task& task) {
  const ScheduleOptions& schedule = options.schedule;
  const bool ends = schedule.kind == ScheduleKind::cosine || schedule.kind == ScheduleKind::linear;
  const auto enough = static_cast<Index>(
      std::ceil(static_cast<double>(schedule.warm_up) / schedule.max_warm_up_share));
  const Index limit = ends ? std::numeric_limits<Index>::max() : enough + 1;
  return Schedule(schedule, count_updates(options, task, limit));
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

// Refuses (ErrorKind::model) a place in the data that an epoch does not have.
RunDescription with_valid_place(RunDescription run, Task& task, const TrainingFolder& folder) {
  const Index num_batches = task.num_batches(run.state.epoch);
  check_as(ErrorKind::model, run.state.batch < num_batches, folder.checkpoint(),
           ": state: batch: expected less than ", num_batches, ", the batches of an epoch, found ",
           run.state.batch);
  return run;
}

SnapshotCounts snapshot_counts(const TrainingOptions& options) {
  return {.averaged = options.average > 1 ? options.average : 0, .kept = options.keep};
}

}  // namespace

Trainer::Trainer(Task& task, const TrainedParameters& parameters, const TrainingFolder& folder,
                 RunDescription run, const Checkpoint* checkpoint, TrainingObserver& observer)
    : task_(task),
      parameters_(parameters),
      folder_(folder),
      run_(with_valid_place(std::move(run), task, folder)),
      options_(run_.recipe.training),
      observer_(observer),
      optimizer_(make_optimizer(parameters, options_)),
      step_(task, parameters, options_, optimizer_),
      schedule_(make_schedule(options_, task)),
      stopping_(options_.early_stopping, options_.patience),
      snapshots_(folder.snapshots(), snapshot_counts(options_), run_.state.snapshots),
      log_(folder.metrics(), run_.state.update, run_.state.validated_update),
      save_time_(std::chrono::steady_clock::now()),
      seconds_before_(run_.state.seconds),
      start_(save_time_) {
  if (options_.ema > 0) ema_.emplace(optimizer_.parameters(), options_.ema);
  stopping_.state = run_.state.stopping;
  if (checkpoint) {
    checkpoint->restore(optimizer_, ema_ ? &*ema_ : nullptr);
    saved_ = current_state();
    warn_of_other_environment(*checkpoint);
  } else {
    write([this] { snapshots_.keep(0, optimizer_.parameters()); });  // the initial weights
    save();
  }
}

void Trainer::warn_of_other_environment(const Checkpoint& checkpoint) {
  const Environment here = current_environment();
  if (!checkpoint.environment() || *checkpoint.environment() == here) return;
  observer_.on_warning("this run was trained with " + to_string(*checkpoint.environment()) +
                       ", and resumes with " + to_string(here) +
                       ": its weights may differ in their last bits from those of an "
                       "uninterrupted run");
}

RunEnd Trainer::run() {
  run_.state.is_finished = false;  // a finished run may be resumed with a longer `after`
  while (true) {
    try {
      const RunEnd end = run_to_end();
      observer_.on_finish(end);
      return end;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::diverged) throw;
      roll_back(error.what());
    } catch (const std::bad_alloc&) {
      fail(ErrorKind::failed, "training: out of memory in update ", run_.state.update + 1,
           ": tensors took up to ", in_gigabytes(peak_tensor_bytes()),
           "; try a smaller `batch_tokens` and a larger `accumulate`", good_checkpoint());
    }
  }
}

RunEnd Trainer::run_to_end() {
  while (true) {
    if (!save_and_validate_if_due()) break;
    if (is_at_end()) {
      if (!finish()) break;
      return stopping_.is_exhausted() ? RunEnd::stopped_early : RunEnd::finished;
    }
    if (observer_.should_stop() || !prepare_epoch()) break;
    run_update();
  }
  // Otherwise the run resumes from its last checkpoint, and diverges as if it had not stopped.
  if (can_be_saved(optimizer_, ema())) save();
  return RunEnd::interrupted;
}

// With BPE-dropout all text is segmented again in every epoch, which takes a while.
bool Trainer::prepare_epoch() {
  return run_unless_stopped(observer_, [this] { task_.num_batches(run_.state.epoch); });
}

// The checkpoint is written again at once, so that a run that is killed afterwards resumes with the
// smaller step too.
void Trainer::roll_back(const std::string& reason) {
  const TrainingState diverged = run_.state;
  // At its end a run fails, so that it does not finish with weights that were never good for more.
  const bool is_given_up = options_.strict || is_at_end() || diverged.rollbacks >= max_rollbacks;
  // The observer has heard of the gradients and the lines; what to do now must fit the message.
  check_as(ErrorKind::diverged, !is_given_up, excerpt(reason, 100), hint, good_checkpoint());
  // There is none before the first one, and older versions kept none.
  const bool is_previous = !can_return_to_newest() && io::is_file(folder_.previous_checkpoint());
  const Checkpoint checkpoint =
      Checkpoint::load(is_previous ? folder_.previous_checkpoint() : folder_.checkpoint());
  TrainingState& state = run_.state;
  state = checkpoint.run().state;
  state.is_finished = false;
  state.rate_scale = diverged.rate_scale / 2;
  state.rollbacks = diverged.rollbacks + 1;
  state.diverged_update = diverged.update;
  if (is_previous) state.previous_snapshots = state.snapshots.averaged;
  checkpoint.restore(optimizer_, ema_ ? &*ema_ : nullptr);
  stopping_.state = state.stopping;
  snapshots_ = Snapshots(folder_.snapshots(), snapshot_counts(options_), state.snapshots);
  save();
  write([&] { log_.truncate(state.update, state.validated_update); });
  observer_.on_rollback({reason, diverged.update, state.update, state.rate_scale});
}

bool Trainer::is_due(const RunLength& interval) const {
  const TrainingState& state = run_.state;
  if (state.update == 0 || state.skipped_in_a_row > 0) return false;
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

// Asks for the batches of an epoch only when it has started: with BPE-dropout they take a while.
double Trainer::epochs_done() {
  const auto epochs = static_cast<double>(run_.state.epoch);
  if (run_.state.batch == 0) return epochs;
  return epochs + static_cast<double>(run_.state.batch) /
                      static_cast<double>(task_.num_batches(run_.state.epoch));
}

double Trainer::share_done() {
  const RunLength& after = options_.after;
  double share = share_of_time();
  if (after.epochs) share = std::max(share, epochs_done() / static_cast<double>(*after.epochs));
  if (after.updates) {
    share = std::max(share,
                     static_cast<double>(run_.state.update) / static_cast<double>(*after.updates));
  }
  return std::min(share, 1.0);
}

void Trainer::run_update() {
  UpdateReport report = step_.run(run_.state, [this](Index update) {
    return schedule_.rate(update, share_of_time()) * run_.state.rate_scale;
  });
  report.share_done = share_done();
  if (ema_ && report.is_applied) ema_->update(optimizer_.parameters(), optimizer_.num_steps());
  report_update(std::move(report));
}

void Trainer::report_update(UpdateReport report) {
  run_.state.target_tokens += report.target_tokens;
  report.seconds = seconds();
  log_.queue(report);
  write([this] { log_.flush(); });
  observer_.on_update(report);
  report_plan_if_due();
  check_divergence(report);
}

void Trainer::report_plan_if_due() {
  constexpr Index min_updates = 5;
  constexpr double min_seconds = 2;
  if (is_planned_) return;
  const Progress now{run_.state.epoch, run_.state.update, seconds()};
  if (!timed_from_) {
    timed_from_ = now;
    return;
  }
  const Index updates = now.updates - timed_from_->updates;
  const double time = now.seconds - timed_from_->seconds;
  if (updates < min_updates || time < min_seconds) return;
  is_planned_ = true;
  const Index batches = task_.num_batches(now.epochs);
  const RunPlan plan =
      plan_run(options_.after, schedule_, now,
               {.seconds_per_update = time / static_cast<double>(updates),
                .updates_per_epoch = (batches + options_.accumulate - 1) / options_.accumulate});
  observer_.on_plan(plan);
  const std::string warning = warning_about(plan, schedule_, options_.schedule.peak);
  if (!warning.empty()) observer_.on_warning(warning);
}

void Trainer::check_divergence(const UpdateReport& report) {
  TrainingState& state = run_.state;
  state.skipped_in_a_row = report.is_applied ? 0 : state.skipped_in_a_row + 1;
  if (report.is_applied && state.update > state.diverged_update) state.rollbacks = 0;
  check_as(ErrorKind::diverged, state.skipped_in_a_row < max_skipped_in_a_row,
           "training diverged: expected a usable loss and gradient, found none in the ",
           max_skipped_in_a_row, " updates up to ", state.update, ": ", report.problem);
}

// Nothing is due after an update that was skipped: its weights are those of the update before, and
// may be about to diverge.
bool Trainer::save_and_validate_if_due() {
  const TrainingState& state = run_.state;
  const bool is_save_due = is_due(options_.save_every);
  if (is_save_due) write([&] { snapshots_.add(state.update, optimizer_.parameters()); });
  if (is_due(options_.validate_every) && state.validated_update != state.update) {
    if (!validate_and_export()) return false;
  }
  if ((is_save_due || is_save_overdue()) && !is_saved()) save();
  return true;
}

bool Trainer::finish() {
  const TrainingState& state = run_.state;
  check_as(ErrorKind::diverged, state.skipped_in_a_row == 0,
           "training diverged: expected a usable loss and gradient in the last update, found none "
           "in the ",
           state.skipped_in_a_row, " up to ", state.update);
  if (state.validated_update != state.update && !validate_and_export()) return false;
  run_.state.is_finished = true;
  save();
  return true;
}

bool Trainer::is_return_point() const {
  return run_.state.update == 0 || is_due(options_.save_every);
}

bool Trainer::can_return_to_newest() const {
  return saved_ && saved_->is_return_point && optimizer_.num_steps() > saved_->optimizer_steps;
}

bool Trainer::is_newest_kept() const {
  const bool is_first = saved_ && saved_->is_return_point && saved_->update != run_.state.update &&
                        !io::is_file(folder_.previous_checkpoint());
  return is_first || can_return_to_newest();
}

Trainer::Saved Trainer::current_state() const {
  const TrainingState& state = run_.state;
  return {state.update, state.validated_update, state.optimizer_steps, is_return_point(),
          state.snapshots.averaged};
}

bool Trainer::is_saved() const {
  return saved_ && saved_->update == run_.state.update &&
         saved_->validated_update == run_.state.validated_update;
}

bool Trainer::is_save_overdue() {
  const std::chrono::duration<double, std::ratio<60>> minutes =
      std::chrono::steady_clock::now() - save_time_;
  return options_.save_minutes > 0 && minutes.count() >= options_.save_minutes &&
         can_be_saved(optimizer_, ema());
}

void Trainer::save() {
  TrainingState& state = run_.state;
  state.seconds = seconds();
  state.optimizer_steps = optimizer_.num_steps();
  state.stopping = stopping_.state;
  state.snapshots = snapshots_.updates();
  const bool is_kept = is_newest_kept();
  if (is_kept) state.previous_snapshots = saved_->averaged;
  write([this] { log_.sync(); });
  const std::string path = is_kept ? folder_.next_checkpoint() : folder_.checkpoint();
  write([&] { save_checkpoint(path, run_, optimizer_, ema()); });
  if (is_kept) write([this] { promote_next_checkpoint(folder_); });
  saved_ = current_state();
  save_time_ = std::chrono::steady_clock::now();
  write([&] { snapshots_.delete_unlisted(state.previous_snapshots); });
}

void Trainer::write(const std::function<void()>& action) {
  try {
    retry_write(folder_.training(), options_.write_retry, observer_, action);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::failed) throw;
    fail(ErrorKind::failed, error.what(), good_checkpoint());
  }
}

std::string Trainer::good_checkpoint() const {
  if (!saved_ || !folder_.has_checkpoint()) return "";
  return "; " + folder_.newest_checkpoint() + " holds the run as it was after update " +
         std::to_string(saved_->update);
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
    report.is_best = stopping_.observe(report);
  }

  if (report.is_best) save_model();
  run_.state.validated_update = run_.state.update;
  if (has_validation) {
    report.seconds = seconds();
    log_.queue(report);
    write([this] { log_.flush(); });
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
           " after update ", report.update);
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
  const std::optional<std::string> bad = first_non_finite(nn::named_parameters(task_));
  check_as(ErrorKind::diverged, !bad,
           "training diverged: expected finite weights, found others in ", bad.value_or(""),
           " after update ", run_.state.update);
  write([this] {
    folder_.check_in_place();
    task_.save_model(folder_.model());
    models::TransformerConfig config = run_.recipe.model;
    config.labels = task_.labels();
    parameters_.save_adapter(folder_.model(), config, path_of(run_.files.paths, base_model_role));
  });
}

}  // namespace heed::train
