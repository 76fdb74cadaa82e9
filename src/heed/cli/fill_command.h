// heed fill: the most likely words for the masks of a line.
#pragma once

#include <iosfwd>
#include <string>

#include "heed/base/index.h"
#include "heed/cli/command.h"
#include "heed/cli/line_chunks.h"
#include "heed/infer/fill_mask.h"

namespace heed::cli {

struct FillOptions {
  std::string model = {};
  std::optional<WeightFormat> weights = {};  // nothing: that of the folder
  LineFormat input_format = LineFormat::text;
  std::string mask{infer::FillMask::default_mask};
  Index top = 5;
  bool json = false;
  Index batch_tokens = 2048;
};

// One line of `in` gives one line of `out`: the words for each mask, each followed by a tab and its
// probability, tabs between them, and ` ||| ` between masks; or a JSON object. A line without a
// mask gives an empty line, or an object with an empty list, and a warning on `log`; the exit code
// is then that of ErrorKind::data.
int fill(const FillOptions& options, std::istream& in, std::ostream& out, std::ostream& log);

Command fill_command();

}  // namespace heed::cli
