// heed explore: serves the page that looks inside a model.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

#include "heed/cli/command.h"

namespace heed::cli {

struct ExploreOptions {
  std::optional<std::string> model = {};
  std::uint16_t port = 0;  // 0: any that is free
  bool open = false;       // open the browser
};

// Prints the address and serves until SIGINT or SIGTERM; returns 128 + the signal.
int explore(const ExploreOptions& options, std::ostream& messages);

Command explore_command();

}  // namespace heed::cli
