// heed classify: classifies lines of text or images, or tags the words of lines.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "heed/base/index.h"
#include "heed/cli/command.h"
#include "heed/cli/line_chunks.h"

namespace heed::cli {

struct ClassifyOptions {
  std::string model = {};
  std::optional<WeightFormat> weights = {};  // nothing: that of the folder
  LineFormat input_format = LineFormat::text;
  // Nothing: 1, or where a text may have several labels, those of `threshold`.
  std::optional<Index> top = {};
  std::optional<double> threshold = {};  // of several labels; nothing: 0.5
  bool json = false;
  bool pairs = false;  // of texts, for a model whose folder does not say so
  Index batch_tokens = 2048;
};

// One line of `in` gives one line of `out`: the most likely label, a tab and its probability, and
// so on for the next `top`, with labels as on_one_line writes them; all labels with a probability
// of at least `threshold`, which may be none, if the model gives several; the number of a
// regression; or a JSON object. A line is a text, two texts as parse_text_pairs reads them, or the
// path of a PNG or JPEG file, as the model wants it. Refuses blank lines and what is no image
// (ErrorKind::data), and options that do not fit the model (ErrorKind::usage).
// Of a tagger, the tags of the line's words between spaces, or a JSON array of the words; a blank
// line has none. Refuses `top` above 1 (ErrorKind::usage).
int classify(const ClassifyOptions& options, std::istream& in, std::ostream& out);

Command classify_command();

}  // namespace heed::cli
