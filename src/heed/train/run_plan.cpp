#include "heed/train/run_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace heed::train {
namespace {

double remaining_updates(const RunLength& after, const Progress& done, const Pace& pace) {
  const auto updates = static_cast<double>(done.updates);
  const auto per_epoch = static_cast<double>(pace.updates_per_epoch);
  double remaining = std::numeric_limits<double>::max();
  const auto limit = [&](double more) { remaining = std::clamp(more, 0.0, remaining); };
  if (after.updates) limit(static_cast<double>(*after.updates) - updates);
  if (after.epochs) limit(static_cast<double>(*after.epochs) * per_epoch - updates);
  if (after.minutes) limit((*after.minutes * 60 - done.seconds) / pace.seconds_per_update);
  return remaining;
}

// Looks at no more than 100,000 places of a long schedule.
void find_peak(RunPlan& plan, const RunLength& after, const Schedule& schedule) {
  const double seconds_per_update = plan.seconds / static_cast<double>(plan.updates);
  const Index stride = plan.updates / 100'000 + 1;
  for (Index update = stride; update <= plan.updates; update += stride) {
    const double seconds = static_cast<double>(update) * seconds_per_update;
    const double rate = schedule.rate(update, after.minutes ? seconds / (*after.minutes * 60) : 0);
    if (rate > plan.peak_rate) {
      plan.peak_rate = rate;
      plan.peak_update = update;
    }
  }
}

}  // namespace

RunPlan plan_run(const RunLength& after, const Schedule& schedule, const Progress& done,
                 const Pace& pace) {
  const double remaining = remaining_updates(after, done, pace);
  RunPlan plan;
  plan.updates = done.updates + static_cast<Index>(std::min(remaining, 1e15));
  plan.seconds = done.seconds + remaining * pace.seconds_per_update;
  plan.epochs = static_cast<double>(plan.updates) / static_cast<double>(pace.updates_per_epoch);
  find_peak(plan, after, schedule);
  return plan;
}

std::string warning_about(const RunPlan& plan, const Schedule& schedule, double peak) {
  if (plan.peak_rate >= 0.9 * peak) return "";
  return fmt::format(
      "the learning rate reaches {:.2g} of {:.2g}: the warm-up takes {} updates, and the run has "
      "about {}; a warm-up of {} would suit it",
      plan.peak_rate, peak, schedule.warm_up(), plan.updates,
      std::max<Index>(plan.updates / 10, 1));
}

}  // namespace heed::train
