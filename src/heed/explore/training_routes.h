// /api/training, /api/training/events and /api/checkpoints: how a model learned, or is learning.
#pragma once

#include "heed/explore/explorer_state.h"
#include "heed/serve/router.h"

namespace heed::explore {

// The state outlives the router.
void add_training_routes(serve::Router& router, ExplorerState& state);

}  // namespace heed::explore
