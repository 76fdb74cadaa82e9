// heed demo: a small translator on the built-in corpus, and a look inside its attention.
#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>

#include "heed/cli/command.h"
#include "heed/cli/corpus_command.h"
#include "heed/cli/training_progress.h"

namespace heed::cli {

struct DemoOptions {
  std::string folder = "demo";
  CorpusCommandOptions corpus;                  // its folder is chosen by the demo
  std::map<std::string, std::string> settings;  // of the recipe, by name; the demo preset otherwise
  // The next sentence that a person types; nothing when there are no more. Empty: nobody types.
  std::function<std::optional<std::string>()> next_sentence;
};

// Writes the corpus to the folder, trains, translates the held-out test set, and prints samples,
// BLEU, the shares of right pronouns and senses, what the model knows, and the attention head that
// finds what "it" is. Then it translates what a person types and names the words it does not know.
// The results go to `out`, progress to `log`.
int demo(const DemoOptions& options, const ProgressOptions& progress, std::ostream& out,
         std::ostream& log);

Command demo_command();

}  // namespace heed::cli
