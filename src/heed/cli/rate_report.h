// A learning-rate range test, as a table or as JSON.
#pragma once

#include <string>

#include "heed/train/rate_finder.h"

namespace heed::cli {

// About thirty rows of rate and smoothed loss, beside a plot of the loss if asked for, and a line
// with the suggestion.
std::string rate_table(const train::RateTest& test, bool with_plot);

// {"suggestion": 0.002, "lowest": {...}, "diverged": true, "points": [{"rate": ..., ...}, ...]}, on
// one line. The suggestion may be null.
std::string rate_json(const train::RateTest& test);

}  // namespace heed::cli
