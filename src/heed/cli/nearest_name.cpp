#include "heed/cli/nearest_name.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace heed::cli {
namespace {

std::string_view without_dashes(std::string_view name) {
  return name.substr(std::min(name.find_first_not_of('-'), name.size()));
}

// What an abbreviation is short for comes before all misspellings.
std::size_t distance_of(std::string_view typed, std::string_view name) {
  if (typed.size() >= 2 && name.starts_with(typed)) return 0;
  const std::size_t distance = edit_distance(typed, name);
  const bool is_near = distance <= std::max<std::size_t>(1, typed.size() / 3);
  return is_near && distance < name.size() ? distance : std::numeric_limits<std::size_t>::max();
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::move(last);
    last = row;
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      const bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swap) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

std::optional<std::string> nearest_name(std::string_view typed,
                                        const std::vector<std::string>& names) {
  std::optional<std::string> nearest;
  std::pair least{std::numeric_limits<std::size_t>::max(), std::size_t{0}};
  for (const std::string& name : names) {
    const std::pair distance{distance_of(without_dashes(typed), without_dashes(name)), name.size()};
    if (distance >= least) continue;
    least = distance;
    nearest = name;
  }
  return nearest;
}

std::string did_you_mean(std::string_view typed, const std::vector<std::string>& names) {
  const std::optional<std::string> nearest = nearest_name(typed, names);
  return nearest ? "; did you mean " + *nearest + '?' : "";
}

}  // namespace heed::cli
