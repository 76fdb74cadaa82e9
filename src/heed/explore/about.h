// What the page is told first: which model there is, and what can be tried on it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "heed/explore/explorer_state.h"

namespace heed::explore {

nlohmann::ordered_json to_json(const Site& site);

// What GET /api/about answers.
nlohmann::ordered_json about(ExplorerState& state);

}  // namespace heed::explore
