// heed classify: classifies lines of text or images, or tags the words of lines.
#pragma once

#include <iosfwd>
#include <string>

#include "heed/base/index.h"
#include "heed/cli/command.h"
#include "heed/cli/line_chunks.h"

namespace heed::cli {

struct ClassifyOptions {
  std::string model = {};
  LineFormat input_format = LineFormat::text;
  Index top = 1;
  bool json = false;
  Index batch_tokens = 2048;
};

// One line of `in` gives one line of `out`: the most likely label, a tab and its probability, and
// so on for the next `top`, with labels as on_one_line writes them; or a JSON object. The lines are
// paths of PNG or JPEG files if the model is a classifier of images. Refuses blank lines and what
// is no image (ErrorKind::data).
// Of a tagger, the tags of the line's words between spaces, or a JSON array of the words; a blank
// line has none. Refuses `top` above 1 (ErrorKind::usage).
int classify(const ClassifyOptions& options, std::istream& in, std::ostream& out);

Command classify_command();

}  // namespace heed::cli
