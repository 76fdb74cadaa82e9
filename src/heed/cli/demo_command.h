// heed demo: a small translator on the built-in corpus, and a look inside its attention.
#pragma once

#include <iosfwd>
#include <map>
#include <string>

#include "heed/cli/command.h"
#include "heed/cli/corpus_command.h"
#include "heed/cli/training_progress.h"

namespace heed::cli {

struct DemoOptions {
  std::string folder = "demo";
  CorpusCommandOptions corpus;                  // its folder is chosen by the demo
  std::map<std::string, std::string> settings;  // of the recipe, by name; the demo preset otherwise
};

// Writes the corpus to the folder, trains, translates the held-out test set, and prints samples,
// BLEU, the shares of right pronouns and senses, and the attention from one "it". The results go to
// `out`, progress to `log`.
int demo(const DemoOptions& options, const ProgressOptions& progress, std::ostream& out,
         std::ostream& log);

Command demo_command();

}  // namespace heed::cli
