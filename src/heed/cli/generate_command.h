// heed generate: a language model writes on.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "heed/cli/command.h"
#include "heed/infer/text_generator.h"

namespace heed::cli {

struct GenerateOptions {
  std::string model = {};
  std::optional<std::string> prompt = {};  // otherwise every line of the input is one
  infer::GenerationOptions writing = {};   // its constraints come from the words below
  std::vector<std::string> forbid = {};    // words that may not come out
  std::vector<std::string> require = {};   // words that must
  bool echo = false;                       // the prompt before its text
  std::string separator = "---";           // the line between two texts
  bool json = false;                       // an object a line instead
};

// Texts go to `out` as they come: the first one as it is written, those beside it when it is done.
int generate(const GenerateOptions& options, std::istream& in, std::ostream& out);

// The same for lines that a person types, one after the other, until there are no more.
int converse(const GenerateOptions& options, std::ostream& out);

Command generate_command();

}  // namespace heed::cli
