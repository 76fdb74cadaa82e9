// How long to train, or how often to do something: 30e, 8000u, 45m.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "heed/base/index.h"

namespace heed::train {

// Epochs, updates, minutes; what is reached first counts.
struct RunLength {
  std::optional<Index> epochs;
  std::optional<Index> updates;
  std::optional<double> minutes;

  friend bool operator==(const RunLength&, const RunLength&) = default;
};

// One or more of 30e, 8000u and 45m, joined by commas. Refuses all else (ErrorKind::usage), in the
// name of `option`.
RunLength parse_run_length(std::string_view text, std::string_view option);
// The same without minutes, and only one of the two: what repeats must not depend on the clock.
RunLength parse_interval(std::string_view text, std::string_view option);
std::string to_string(const RunLength& length);

// Whole epochs and updates done, and the time they took.
struct Progress {
  Index epochs = 0;
  Index updates = 0;
  double seconds = 0;
};
bool is_reached(const RunLength& length, const Progress& progress);

}  // namespace heed::train
