// The first answer to the page: which model is open, and what can be tried on it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "heed/explore/explorer_state.h"

namespace heed::explore {

nlohmann::ordered_json to_json(const Site& site);

// The answer to GET /api/about.
nlohmann::ordered_json about(ExplorerState& state);

}  // namespace heed::explore
