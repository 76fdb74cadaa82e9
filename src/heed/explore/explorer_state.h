// State that all routes of the explorer share. The server calls them one after another.
#pragma once

#include <optional>
#include <string>

#include "heed/explore/embedding_plane.h"
#include "heed/explore/model_session.h"
#include "heed/explore/trace_store.h"

namespace heed::explore {

struct ExplorerState {
  explicit ExplorerState(std::optional<std::string> model_folder)
      : sessions(std::move(model_folder)) {}

  SessionStore sessions;
  TraceStore traces;
  // Made when it is first needed, from the model's own weights.
  std::optional<EmbeddingPlane> plane;
};

}  // namespace heed::explore
