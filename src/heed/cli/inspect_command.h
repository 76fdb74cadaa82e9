// heed inspect: shows what is in a model folder.
#pragma once

#include <iosfwd>
#include <string>

#include "heed/cli/command.h"

namespace heed::cli {

struct InspectOptions {
  std::string model = {};
  bool json = false;
};

// Architecture, parameters by part, tokenizer, training state and a hash over all weights, as a
// table or as one JSON object.
int inspect(const InspectOptions& options, std::ostream& out);

Command inspect_command();

}  // namespace heed::cli
