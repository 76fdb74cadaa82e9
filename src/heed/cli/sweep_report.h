// The runs of a sweep beside each other, as a table or as JSON.
#pragma once

#include <span>
#include <string>

#include "heed/train/sweep.h"

namespace heed::cli {

// "learning-rate=0.001, dropout=0.1"
std::string settings_text(const train::SweepRun& run);

// A row for each run: its settings, the loss and the scores of its model, how long it took. A star
// marks the best; the last line names its folder and the measure that decided.
std::string sweep_table(std::span<const train::SweepRun> runs, const train::SweepOutcome& outcome);

// An object for each run, one a line.
std::string sweep_json(std::span<const train::SweepRun> runs, const train::SweepOutcome& outcome);

}  // namespace heed::cli
