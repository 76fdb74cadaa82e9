// heed generate: continues prompts with a language model.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "heed/cli/command.h"
#include "heed/cli/line_chunks.h"
#include "heed/infer/text_generator.h"

namespace heed::cli {

struct GenerateOptions {
  std::string model = {};
  LineFormat input_format = LineFormat::text;
  std::optional<std::string> prompt = {};    // otherwise every line of the input is one
  infer::GenerationOptions generation = {};  // its constraints come from the words below
  std::vector<std::string> forbid = {};      // forbidden words
  std::vector<std::string> require = {};     // required words
  bool echo = false;                         // the prompt before its text
  std::string separator = "---";             // the line between two texts
  bool json = false;                         // one JSON object per line instead
  bool chat = false;                         // prompts are messages of a chat
  std::optional<std::string> system = {};    // the first message of a chat
};

// Texts go to `out` as they are generated: the first one token by token, the others of its batch
// after it. They keep their line ends and tabs; other control characters are escaped
// (on_several_lines).
int generate(const GenerateOptions& options, std::istream& in, std::ostream& out);

// The same for lines that a person types, until there are no more. A chat keeps what was said,
// until the line /reset.
int converse(const GenerateOptions& options, std::ostream& out);
int converse(const GenerateOptions& options,
             const std::function<std::optional<std::string>()>& next_line, std::ostream& out);

Command generate_command();

}  // namespace heed::cli
