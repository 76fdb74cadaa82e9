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
  // `total_updates` is 0 when nobody knows; cosine and linear, which fall to zero just after the
  // last update, need it (ErrorKind::usage).
  explicit Schedule(const ScheduleOptions& options, Index total_updates = 0);

  double rate(Index update) const;  // updates count from 1

 private:
  double share_done(Index update) const;  // of what follows the warm-up, in [0, 1]

  ScheduleOptions options_;
  Index total_updates_;
};

}  // namespace heed::train
