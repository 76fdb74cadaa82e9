// The explorer: a page on this machine that looks inside attention, a model and a training run. The
// folder by groups:
//
//   session    model_session (weights of one moment), token_list, interventions
//   recording  recording (one pass and what was seen in it), site_watcher, trace_store
//   heads      head_facts (what a head does), head_words (weights between words)
//   cells      cell_arithmetic: the steps of one weight, by cell_pass, cell_vectors, cell_weight
//              and cell_effect; exact_arithmetic is the engine's in scalar code
//   answers    answer, run (answer and recording), what_if (before and after an intervention),
//              finite_outcome
//   decoding   prediction, attribution, beam_tree, next_tokens
//   paths      embedding_plane (two principal axes), word_paths (words through the layers)
//   words      word_plane: attention of a few words in a plane, without a model
//   training   metrics_tail, training_history, training_watch, training_events: a log as it grows
//   routes     about, model_routes, decoding_routes, word_routes, training_routes: HTTP
//   page       page_files (built from web/), explorer_state (shared by all routes), this file
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "heed/explore/explorer_state.h"
#include "heed/serve/access_guard.h"
#include "heed/serve/router.h"
#include "heed/serve/server.h"
#include "heed/serve/static_files.h"

namespace heed::explore {

struct ExplorerOptions {
  std::optional<std::string> model = {};  // a model folder, or one that a training run will fill
  std::uint16_t port = 0;                 // 0: any that is free
};

// Serves the page from construction to destruction. Refuses a model that cannot be read and a port
// that is taken.
class Explorer {
 public:
  explicit Explorer(const ExplorerOptions& options);
  ~Explorer();
  Explorer(const Explorer&) = delete;
  Explorer& operator=(const Explorer&) = delete;

  // Opens the page once; after that the browser has a cookie.
  const std::string& address() const { return address_; }

 private:
  serve::StaticFiles files_;
  ExplorerState state_;
  serve::Router router_;
  serve::Server server_;
  serve::AccessGuard guard_;
  std::string address_;
};

}  // namespace heed::explore
