// heed evaluate: BLEU, chrF, ROUGE and exact match of texts, contrastive accuracy of a translator,
// perplexity of a language model and its answers to prompts, accuracy of a classifier, scores of a
// tagger.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "heed/base/index.h"
#include "heed/cli/command.h"

namespace heed::cli {

struct EvaluateOptions {
  std::filesystem::path reference = {};
  std::string tokenize = "13a";
  bool lowercase = false;
  bool stem = false;
  bool json = false;
  std::vector<std::string> metrics = {"bleu", "chrf"};  // also: rouge, exact-match, squad
  // Instead of references: pairs of lines, contrastive translations, a text, prompts with answers,
  // lines with labels, words with tags or a folder of images, and the model that is scored on them.
  std::filesystem::path source = {};
  std::filesystem::path target = {};
  std::filesystem::path pairs = {};  // both in one file of records
  std::filesystem::path contrastive = {};
  bool normalize = false;           // contrastive scores per token
  std::string fields = {};          // columns of the records; empty: recognised
  std::optional<bool> header = {};  // of the same; nothing: recognised
  std::optional<Index> beam_size = {};
  bool truncate = false;
  std::filesystem::path text = {};
  std::filesystem::path prompts = {};
  Index max_tokens = 256;  // of an answer to a prompt
  std::filesystem::path labelled = {};
  std::filesystem::path tagged = {};
  std::filesystem::path images = {};
  std::string model = {};
  std::optional<WeightFormat> weights = {};  // nothing: that of the folder
  bool confusion = false;
  std::optional<double> threshold = {};  // of several labels; nothing: 0.5
};

// Hypotheses from `in`, one a line; scores to `out`, one a line, or as one JSON object. With
// a model nothing is read from `in`.
int evaluate(const EvaluateOptions& options, std::istream& in, std::ostream& out);

Command evaluate_command();

}  // namespace heed::cli
