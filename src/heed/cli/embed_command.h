// heed embed: sentence embeddings.
#pragma once

#include <iosfwd>
#include <string>

#include "heed/base/index.h"
#include "heed/cli/command.h"
#include "heed/cli/line_chunks.h"

namespace heed::cli {

struct EmbedOptions {
  std::string model = {};
  std::optional<WeightFormat> weights = {};  // nothing: that of the folder
  LineFormat input_format = LineFormat::text;
  std::optional<std::string> prompt_name = {};  // nothing: the default of the folder, if any
  std::string npy = {};                         // empty: JSON to standard output
  Index batch_tokens = 2048;
};

// One line of `in` gives one JSON object on `out`; or all lines together one array in a file.
// Refuses blank lines (ErrorKind::data).
int embed(const EmbedOptions& options, std::istream& in, std::ostream& out);

Command embed_command();

}  // namespace heed::cli
