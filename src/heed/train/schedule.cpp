#include "heed/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace heed::train {

Schedule::Schedule(const ScheduleOptions& options, Index total_updates)
    : options_(options), total_updates_(total_updates) {
  if (total_updates == 0 || !is_limited()) return;
  const double limit = options.max_warm_up_share * static_cast<double>(total_updates);
  options_.warm_up = std::min(options.warm_up, static_cast<Index>(limit));
}

double Schedule::rate(Index update, double share_of_time) const {
  const double falling = falling_rate(update, share_of_time);
  if (update > options_.warm_up) return falling;
  return std::min(falling, rising_rate(update, share_of_time));
}

double Schedule::rising_rate(Index update, double share_of_time) const {
  const double rate =
      options_.peak * static_cast<double>(update) / static_cast<double>(options_.warm_up);
  if (!is_limited()) return rate;
  return std::max(rate, options_.peak * std::min(1.0, share_of_time / options_.max_warm_up_share));
}

double Schedule::falling_rate(Index update, double share_of_time) const {
  const double share_done =
      std::clamp(std::max(share_of_updates(update), share_of_rest(share_of_time)), 0.0, 1.0);
  switch (options_.kind) {
    case ScheduleKind::inverse_square_root: {
      double part =
          static_cast<double>(std::max<Index>(options_.warm_up, 1)) / static_cast<double>(update);
      if (is_limited() && share_of_time > 0) {
        part = std::min(part, options_.max_warm_up_share / share_of_time);
      }
      return options_.peak * std::sqrt(part);
    }
    case ScheduleKind::cosine:
      return options_.peak * 0.5 * (1 + std::cos(std::numbers::pi * share_done));
    case ScheduleKind::linear:
      return options_.peak * (1 - share_done);
    case ScheduleKind::constant:
      break;
  }
  return options_.peak;
}

double Schedule::share_of_rest(double share_of_time) const {
  if (!is_limited()) return share_of_time;
  return (share_of_time - options_.max_warm_up_share) / (1 - options_.max_warm_up_share);
}

double Schedule::share_of_updates(Index update) const {
  if (total_updates_ == 0) return 0;
  const auto done = static_cast<double>(update - options_.warm_up);
  const auto all = static_cast<double>(total_updates_ - options_.warm_up + 1);
  return done / std::max(all, 1.0);
}

}  // namespace heed::train
