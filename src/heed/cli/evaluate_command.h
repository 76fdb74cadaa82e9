// heed evaluate: how close are translations to their references, how often is a classifier right?
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "heed/cli/command.h"

namespace heed::cli {

struct EvaluateOptions {
  std::filesystem::path reference = {};
  std::string tokenize = "13a";
  bool lowercase = false;
  bool json = false;
  std::vector<std::string> metrics = {"bleu", "chrf"};
  // In place of a reference: lines with labels, and the classifier that is to tell them.
  std::filesystem::path labelled = {};
  std::string model = {};
  bool confusion = false;
};

// Hypotheses from `in`, one a line; scores to `out`, one a line, or as one JSON object. With
// labelled lines nothing is read from `in`.
int evaluate(const EvaluateOptions& options, std::istream& in, std::ostream& out);

Command evaluate_command();

}  // namespace heed::cli
