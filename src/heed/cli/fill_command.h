// heed fill: the words that could stand in the gaps of a line.
#pragma once

#include <iosfwd>
#include <string>

#include "heed/base/index.h"
#include "heed/cli/command.h"

namespace heed::cli {

struct FillOptions {
  std::string model = {};
  std::string mask = "<mask>";
  Index top = 5;
  bool json = false;
  Index batch_tokens = 2048;
};

// One line of `in` gives one line of `out`: the words of each gap, each followed by a tab and its
// probability, tabs between them, and ` ||| ` between gaps; or a JSON object. Refuses lines without
// a gap (ErrorKind::data).
int fill(const FillOptions& options, std::istream& in, std::ostream& out);

Command fill_command();

}  // namespace heed::cli
