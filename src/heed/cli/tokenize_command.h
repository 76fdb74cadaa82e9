// heed tokenize: text to tokens and back, with the tokenizer of a model.
#pragma once

#include <iosfwd>
#include <string>

#include "heed/cli/command.h"
#include "heed/cli/line_chunks.h"

namespace heed::cli {

struct TokenizeOptions {
  std::string model = {};  // a folder, or a tokenizer.json or tokenizer.model
  LineFormat input_format = LineFormat::text;
  bool ids = false;
  bool json = false;
  bool decode = false;
  bool no_special = false;
  bool skip_special = false;
};

// One line of `in` gives one line of `out`: the tokens of a text, or the text of ids.
int tokenize(const TokenizeOptions& options, std::istream& in, std::ostream& out);

Command tokenize_command();

}  // namespace heed::cli
