// heed classify: lines of text to the classes that they belong to.
#pragma once

#include <iosfwd>
#include <string>

#include "heed/base/index.h"
#include "heed/cli/command.h"

namespace heed::cli {

struct ClassifyOptions {
  std::string model = {};
  Index top = 1;
  bool json = false;
  Index batch_tokens = 2048;
};

// One line of `in` gives one line of `out`: the most likely label, a tab and its probability, and
// so on for the next `top`; or a JSON object. Refuses blank lines (ErrorKind::data).
int classify(const ClassifyOptions& options, std::istream& in, std::ostream& out);

Command classify_command();

}  // namespace heed::cli
