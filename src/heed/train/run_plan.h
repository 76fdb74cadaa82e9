// Estimates what a run will look like when some of its updates have been timed.
#pragma once

#include <string>

#include "heed/train/run_length.h"
#include "heed/train/schedule.h"
#include "heed/train/training_observer.h"

namespace heed::train {

struct Pace {
  double seconds_per_update = 0;
  Index updates_per_epoch = 1;
};

RunPlan plan_run(const RunLength& after, const Schedule& schedule, const Progress& done,
                 const Pace& pace);

// Empty, unless the run ends long before its learning rate reaches `peak`.
std::string warning_about(const RunPlan& plan, const Schedule& schedule, double peak);

}  // namespace heed::train
