// heed convert: quantizes a model, or merges a LoRA adapter into it.
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
};

// Writes the model to the output folder in the format `weights`, and the size of the weights before
// and after to `out`.
int convert(const ConvertOptions& options, std::ostream& out);

Command convert_command();

}  // namespace heed::cli
