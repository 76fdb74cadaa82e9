// Routes of a model: its description, a run, and everything inside of one.
#pragma once

#include "heed/explore/explorer_state.h"
#include "heed/serve/router.h"

namespace heed::explore {

// GET /api/about, POST /api/run, GET /api/trace/{id}/weights, scores, cell and paths. The state
// outlives the router.
void add_model_routes(serve::Router& router, ExplorerState& state);

}  // namespace heed::explore
