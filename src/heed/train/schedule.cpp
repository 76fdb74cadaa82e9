#include "heed/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace heed::train {

Schedule::Schedule(const ScheduleOptions& options, Index total_updates)
    : options_(options), total_updates_(total_updates) {}

double Schedule::rate(Index update, double share_of_time) const {
  const double falling = falling_rate(update, share_of_time);
  if (update > options_.warm_up) return falling;
  return std::min(
      falling, options_.peak * static_cast<double>(update) / static_cast<double>(options_.warm_up));
}

double Schedule::falling_rate(Index update, double share_of_time) const {
  const double share_done = std::clamp(std::max(share_of_updates(update), share_of_time), 0.0, 1.0);
  switch (options_.kind) {
    case ScheduleKind::inverse_square_root:
      return options_.peak * std::sqrt(static_cast<double>(std::max<Index>(options_.warm_up, 1)) /
                                       static_cast<double>(update));
    case ScheduleKind::cosine:
      return options_.peak * 0.5 * (1 + std::cos(std::numbers::pi * share_done));
    case ScheduleKind::linear:
      return options_.peak * (1 - share_done);
    case ScheduleKind::constant:
      break;
  }
  return options_.peak;
}

double Schedule::share_of_updates(Index update) const {
  if (total_updates_ == 0) return 0;
  const auto done = static_cast<double>(update - options_.warm_up);
  const auto all = static_cast<double>(total_updates_ - options_.warm_up + 1);
  return done / std::max(all, 1.0);
}

}  // namespace heed::train
