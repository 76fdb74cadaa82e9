// The learning rate of every update.
#pragma once

#include "heed/base/index.h"

namespace heed::train {

enum class ScheduleKind { inverse_square_root, cosine, linear, constant };

struct ScheduleOptions {
  ScheduleKind kind = ScheduleKind::inverse_square_root;
  double peak = 0.005;
  Index warm_up = 2000;  // updates over which the rate rises from 0 to the peak
  // The warm-up takes at most this share of the run; 1: a run may end before it reaches the peak.
  double max_warm_up_share = 1;
};

class Schedule {
 public:
  // `total_updates` is 0 when the clock alone ends the run. Cosine and linear fall to zero just
  // after the last update, or when the time is over.
  explicit Schedule(const ScheduleOptions& options, Index total_updates = 0);

  // Updates count from 1. `share_of_time` is the share of the run's time that is over: 0 without a
  // limit. The schedule follows the larger share, of updates or of time. By the clock the warm-up
  // is over when `max_warm_up_share` of the time is, if it was not before, and cosine and linear
  // fall from there on. With a `max_warm_up_share` of 1 they fall from the start, because the time
  // that the warm-up takes is not known beforehand.
  double rate(Index update, double share_of_time = 0) const;

  Index warm_up() const { return options_.warm_up; }  // in updates, as the run allows it
  Index total_updates() const { return total_updates_; }

 private:
  double rising_rate(Index update, double share_of_time) const;
  double falling_rate(Index update, double share_of_time) const;
  // Of those that follow the warm-up.
  double share_of_updates(Index update) const;
  double share_of_rest(double share_of_time) const;
  bool is_limited() const { return options_.max_warm_up_share < 1; }

  ScheduleOptions options_;
  Index total_updates_;
};

}  // namespace heed::train
