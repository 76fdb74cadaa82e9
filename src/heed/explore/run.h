// One run of a model on a text: its answer, and the trace of the computation.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "heed/explore/explorer_state.h"

namespace heed::explore {

struct RunOptions {
  // Teacher forcing: the decoder's input in place of the answer; after a prompt, its continuation.
  std::optional<std::string> target = std::nullopt;
  std::optional<Index> checkpoint = std::nullopt;
  nlohmann::json interventions = nullptr;  // as interventions.h reads them
  std::optional<Index> beam = std::nullopt;
};

// The answer is that of the command line; then a pass over the tokens of text and answer is watched
// and kept as a trace. Returns the answer to POST /api/run. Refuses what source_ids refuses, and
// texts beyond the model's positions (ErrorKind::data).
nlohmann::ordered_json run(ExplorerState& state, const std::string& text,
                           const RunOptions& options = {});

// {"text", "target", "checkpoint", "interventions", "beam"}; all but the text may be null or
// missing.
RunOptions run_options_from_json(const nlohmann::json& json);

}  // namespace heed::explore
