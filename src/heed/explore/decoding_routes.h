// /api/trace/{id}/attribution, /api/trace/{id}/beam and /api/next: why and how a model chose its
// tokens.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "heed/explore/explorer_state.h"
#include "heed/serve/router.h"

namespace heed::explore {

// The state outlives the router.
void add_decoding_routes(serve::Router& router, ExplorerState& state);

// {"trace": id, "prefix": how many tokens come before the wanted one (all of them when missing)},
// or, without a trace, {"text", "checkpoint", "target": the first tokens of a translation}; and
// "temperature", "top_k", "top_p", "min_p" -> the answer of /api/next. Refuses (ErrorKind::usage)
// fields that are not of their kind.
nlohmann::json next_tokens_of(const nlohmann::json& body, ExplorerState& state);

}  // namespace heed::explore
