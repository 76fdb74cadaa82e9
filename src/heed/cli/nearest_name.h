// The name that was probably meant, for "did you mean".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed::cli {

// Letters to insert, delete, replace, or swap with their neighbour, to turn one text into the
// other.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The shortest name that begins with `typed`, otherwise the one with the smallest edit distance, if
// at most a third of the letters differ. Dashes at the beginning do not count.
std::optional<std::string> nearest_name(std::string_view typed,
                                        const std::vector<std::string>& names);

// "; did you mean --similarity?", or nothing.
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& names);

}  // namespace heed::cli
