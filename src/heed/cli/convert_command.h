// heed convert: quantizes a model, merges a LoRA adapter into it, or exports it to other programs.
#pragma once

#include <iosfwd>
#include <string>

#include "heed/cli/command.h"

namespace heed::cli {

struct ConvertOptions {
  std::string model = {};
  std::string output = {};
  std::string weights = "f32";
  std::string adapter = {};  // path of a LoRA adapter to merge; may be empty
  std::string to = "heed";
};

// Writes the model to the output folder or file with weights in the format `weights`, the size of
// the weights before and after to `out`, and what the user should know about the result to `log`.
int convert(const ConvertOptions& options, std::ostream& out, std::ostream& log);

Command convert_command();

}  // namespace heed::cli
