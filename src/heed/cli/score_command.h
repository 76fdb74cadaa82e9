// heed score: the log-probability of lines under a model.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "heed/base/index.h"
#include "heed/cli/command.h"
#include "heed/cli/line_chunks.h"

namespace heed::cli {

struct ScoreOptions {
  std::string model = {};
  std::optional<WeightFormat> weights = {};  // nothing: that of the folder
  LineFormat input_format = LineFormat::text;
  // Both or none, and only for a translation model.
  std::optional<std::string> source = {};
  std::optional<std::string> target = {};
  bool tokens = false;
  bool json = false;
  bool truncate = false;
  Index batch_tokens = 1024;
};

// One line of `in`, or of the two files, gives one line of `out`. A language model takes any line,
// a translation model takes `source TAB target`.
int score(const ScoreOptions& options, std::istream& in, std::ostream& out);

Command score_command();

}  // namespace heed::cli
