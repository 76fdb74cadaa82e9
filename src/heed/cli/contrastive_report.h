// The accuracy of contrastive evaluation, as lines of text or as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "heed/metrics/group_accuracy.h"

namespace heed::cli {

// accuracy 0.7843 (9413 of 12000)
// er: accuracy 0.6520 (2608 of 4000)
std::string accuracy_lines(const metrics::GroupAccuracy& total,
                           std::span<const metrics::GroupAccuracy> groups);

// The same, at full precision; `groups` is a list.
nlohmann::ordered_json contrastive_report(const metrics::GroupAccuracy& total,
                                          std::span<const metrics::GroupAccuracy> groups);

}  // namespace heed::cli
