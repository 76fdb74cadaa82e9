// heed translate: translates lines of text.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "heed/base/index.h"
#include "heed/cli/command.h"
#include "heed/cli/line_chunks.h"
#include "heed/infer/beam_search.h"

namespace heed::cli {

struct TranslateOptions {
  std::string model = {};
  std::optional<WeightFormat> weights = {};  // nothing: that of the folder
  LineFormat input_format = LineFormat::text;
  // By default those of generation_config.json.
  std::optional<Index> beam_size = {};
  std::optional<double> length_penalty = {};
  std::optional<Index> max_length = {};
  std::optional<Index> n_best = {};  // set: the n best of each line, in the format of Moses
  std::optional<std::string> early_stopping = {};
  std::optional<Index> min_length = {};
  std::optional<Index> no_repeat_ngram = {};
  std::optional<double> repetition_penalty = {};
  std::optional<Index> diverse_groups = {};
  std::optional<double> diversity_penalty = {};
  double coverage_penalty = 0;
  std::optional<std::string> prefix = {};    // of every translation
  std::optional<std::string> prefixes = {};  // a file: one for each line
  std::vector<std::string> forbid = {};
  std::vector<std::string> require = {};
  bool truncate = false;
  bool alignment = false;
  bool scores = false;
  bool json = false;
  Index batch_tokens = 1024;
};

// One line of `in` gives one line of `out`, in the same order; blank lines stay blank. Line ends
// and other control characters in a translation are escaped (on_one_line). Fields after the
// translation are separated by ` ||| `. Output comes as soon as the lines that have arrived are
// translated. With json each line of `out` is an object with the translations of one line, their
// tokens and log-probabilities.
int translate(const TranslateOptions& options, std::istream& in, std::ostream& out);

Command translate_command();

}  // namespace heed::cli
