// heed translate: lines of text through a trained model.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "heed/base/index.h"
#include "heed/cli/command.h"

namespace heed::cli {

struct TranslateOptions {
  std::string model = {};
  // Where nothing is said, generation_config.json says it.
  std::optional<Index> beam_size = {};
  std::optional<double> length_penalty = {};
  std::optional<Index> max_length = {};
  std::optional<Index> n_best = {};  // set: the n best of each line, in the format of Moses
  bool alignment = false;
  bool scores = false;
  Index batch_tokens = 1024;
};

// One line of `in` gives one line of `out`, in the same order; blank lines stay blank. Fields
// behind the translation are separated by ` ||| `. Output comes as soon as the lines that have
// arrived are translated.
int translate(const TranslateOptions& options, std::istream& in, std::ostream& out);

Command translate_command();

}  // namespace heed::cli
