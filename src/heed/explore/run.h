// One run of a model on a text: its answer, and the trace of how it came about.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "heed/explore/explorer_state.h"

namespace heed::explore {

inline constexpr Index max_run_characters = 4096;
inline constexpr Index max_run_tokens = 1024;

struct RunOptions {
  // What the decoder shall read in place of the answer; behind a prompt, what goes on with it.
  std::optional<std::string> target = std::nullopt;
  std::optional<Index> checkpoint = std::nullopt;
  nlohmann::json changes = nullptr;  // as changes.h reads them
  std::optional<Index> beam = std::nullopt;
};

// The answer is that of the command line; then a pass over the tokens of text and answer is watched
// and kept as a trace. Returns what POST /api/run answers. Refuses (ErrorKind::data) texts that are
// too long.
nlohmann::ordered_json run(ExplorerState& state, const std::string& text,
                           const RunOptions& options = {});

// {"text", "target", "checkpoint", "changes", "beam"}; all but the text may be null or missing.
RunOptions run_options_from_json(const nlohmann::json& json);

}  // namespace heed::explore
