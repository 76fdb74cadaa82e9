// heed corpus: writes the built-in English-German corpus to files.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "heed/cli/command.h"

namespace heed::cli {

struct CorpusCommandOptions {
  std::int64_t pairs = 20000;
  std::int64_t valid_pairs = 500;
  std::int64_t test_pairs = 1000;
  std::uint64_t seed = 1;
  std::string output;
};

// Writes train.en, train.de, valid.en, valid.de, test.en, test.de and test.tsv into the folder,
// none of them before all are ready. Line n of test.tsv is about line n of the test: phenomenon
// (none, pronoun, sense), the German word that is right, the one that is wrong, the two words that
// training never shows together, and the name of the pattern. A summary goes to `log`.
int corpus(const CorpusCommandOptions& options, std::ostream& log);

Command corpus_command();

}  // namespace heed::cli
