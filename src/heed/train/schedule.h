// The learning rate of every update.
#pragma once

#include "heed/base/index.h"

namespace heed::train {

enum class ScheduleKind { inverse_square_root, cosine, linear, constant };

struct ScheduleOptions {
  ScheduleKind kind = ScheduleKind::inverse_square_root;
  double peak = 0.005;
  Index warm_up = 2000;  // updates over which the rate rises from 0 to the peak
};

class Schedule {
 public:
  // `total_updates` is 0 when the clock alone ends the run. Cosine and linear fall to zero just
  // after the last update, or when the time is over.
  explicit Schedule(const ScheduleOptions& options, Index total_updates = 0);

  // Updates count from 1. `share_of_time` is the share of the run's time that is over: 0 without a
  // limit. Cosine and linear follow the larger share, of updates or of time. By the clock they fall
  // from the start, because the time that the warm-up takes is not known beforehand; the rate is
  // the smaller of the warm-up's and theirs.
  double rate(Index update, double share_of_time = 0) const;

 private:
  double falling_rate(Index update, double share_of_time) const;
  double share_of_updates(Index update) const;  // of those that follow the warm-up

  ScheduleOptions options_;
  Index total_updates_;
};

}  // namespace heed::train
