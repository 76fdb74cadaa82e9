// POST /api/words: attention of words in a plane, for the page.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "heed/explore/word_plane.h"
#include "heed/serve/router.h"

namespace heed::explore {

inline constexpr Index max_plane_words = 24;
inline constexpr Index max_plane_heads = 2;

// Error(data) names the field that is wrong.
WordPlane word_plane_from_json(const nlohmann::json& json);
// Numbers are the engine's floats, exactly; minus infinity is null.
nlohmann::json to_json(const PlaneAttention& attention);

void add_word_routes(serve::Router& router);

}  // namespace heed::explore
