// References of one hypothesis: one or several.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/base/error.h"

namespace heed::metrics {

inline std::span<const std::string> references_of(const std::string& one) { return {&one, 1}; }
inline std::span<const std::string> references_of(const std::vector<std::string>& several) {
  return several;
}

inline void check_references(const char* metric, std::span<const std::string> references) {
  check(!references.empty(), metric, ": expected at least one reference, got none");
}

// One element of `references`, a line or a list of lines, for each hypothesis.
template <typename Lines>
void check_counts(const char* metric, std::span<const std::string> hypotheses,
                  std::span<const Lines> references) {
  check(hypotheses.size() == references.size(), metric, ": expected one reference for each of ",
        hypotheses.size(), " hypotheses, got ", references.size());
}

}  // namespace heed::metrics
