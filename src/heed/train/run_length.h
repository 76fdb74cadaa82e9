// The length of a run, or an interval: epochs, updates, time (30e, 8000u, 45s, 45m, 2h).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "heed/base/index.h"

namespace heed::train {

// The run ends at the first limit that it reaches. None set: no end.
struct RunLength {
  std::optional<Index> epochs;
  std::optional<Index> updates;
  std::optional<double> minutes;

  friend bool operator==(const RunLength&, const RunLength&) = default;
};

inline RunLength epochs(Index count) { return {.epochs = count, .updates = {}, .minutes = {}}; }
inline RunLength updates(Index count) { return {.epochs = {}, .updates = count, .minutes = {}}; }
inline RunLength minutes(double count) { return {.epochs = {}, .updates = {}, .minutes = count}; }

// One or more of 30e, 8000u and a time, which is 45s, 45m or 2h, separated by commas. Refuses
// others (ErrorKind::usage); `setting` begins the message.
RunLength parse_run_length(std::string_view text, std::string_view setting);
// The same without a time, and only one of the two: what repeats must not depend on the clock.
RunLength parse_interval(std::string_view text, std::string_view setting);
// Times in minutes. Parsing it gives the same length again.
std::string to_string(const RunLength& length);

// Whole epochs and updates done, and the time they took.
struct Progress {
  Index epochs = 0;
  Index updates = 0;
  double seconds = 0;
};
bool is_reached(const RunLength& length, const Progress& progress);

}  // namespace heed::train
