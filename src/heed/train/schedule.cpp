#include "heed/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "heed/base/error.h"

namespace heed::train {
namespace {

bool needs_total(ScheduleKind kind) {
  return kind == ScheduleKind::cosine || kind == ScheduleKind::linear;
}

}  // namespace

Schedule::Schedule(const ScheduleOptions& options, Index total_updates)
    : options_(options), total_updates_(total_updates) {
  check_as(
      ErrorKind::usage, !needs_total(options.kind) || total_updates > 0,
      "--schedule: cosine and linear need an end; expected --after in epochs or updates, found "
      "neither");
}

double Schedule::rate(Index update) const {
  if (update <= options_.warm_up) {
    return options_.peak * static_cast<double>(update) / static_cast<double>(options_.warm_up);
  }
  switch (options_.kind) {
    case ScheduleKind::inverse_square_root:
      return options_.peak * std::sqrt(static_cast<double>(std::max<Index>(options_.warm_up, 1)) /
                                       static_cast<double>(update));
    case ScheduleKind::cosine:
      return options_.peak * 0.5 * (1 + std::cos(std::numbers::pi * share_done(update)));
    case ScheduleKind::linear:
      return options_.peak * (1 - share_done(update));
    case ScheduleKind::constant:
      break;
  }
  return options_.peak;
}

double Schedule::share_done(Index update) const {
  const auto done = static_cast<double>(update - options_.warm_up);
  const auto all = static_cast<double>(total_updates_ - options_.warm_up + 1);
  return std::clamp(done / std::max(all, 1.0), 0.0, 1.0);
}

}  // namespace heed::train
