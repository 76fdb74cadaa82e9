#include "heed/cli/evaluate_command.h"

#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "heed/base/error.h"
#include "heed/cli/class_report.h"
#include "heed/data/labelled_lines.h"
#include "heed/generate/line_classifier.h"
#include "heed/metrics/bleu.h"
#include "heed/metrics/chrf.h"
#include "heed/text/lines.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr char standard_input[] = "standard input";

// One metric's result, in the two forms in which it can be printed.
struct Report {
  std::string name;
  std::string line;
  Json json;
};

Report report_bleu(std::span<const std::string> hypotheses, std::span<const std::string> references,
                   const EvaluateOptions& options) {
  const metrics::BleuOptions settings{.tokenizer = metrics::parse_bleu_tokenizer(options.tokenize),
                                      .lowercase = options.lowercase};
  const metrics::BleuScore bleu = metrics::corpus_bleu(hypotheses, references, settings);
  const std::string signature = metrics::bleu_signature(settings);
  return {.name = "bleu",
          .line = fmt::format("BLEU|{} = {:.2f} {:.1f} (BP = {:.3f} ratio = {:.3f} hyp_len = {} "
                              "ref_len = {})",
                              signature, bleu.score, fmt::join(bleu.precisions, "/"),
                              bleu.brevity_penalty, bleu.ratio(), bleu.hypothesis_length,
                              bleu.reference_length),
          .json = {{"score", bleu.score},
                   {"signature", signature},
                   {"precisions", bleu.precisions},
                   {"brevity_penalty", bleu.brevity_penalty},
                   {"ratio", bleu.ratio()},
                   {"hypothesis_length", bleu.hypothesis_length},
                   {"reference_length", bleu.reference_length}}};
}

Report report_chrf(std::span<const std::string> hypotheses, std::span<const std::string> references,
                   const EvaluateOptions& options) {
  const metrics::ChrfOptions settings{.lowercase = options.lowercase};
  const double score = metrics::corpus_chrf(hypotheses, references, settings);
  const std::string signature = metrics::chrf_signature(settings);
  return {.name = "chrf",
          .line = fmt::format("chrF2|{} = {:.2f}", signature, score),
          .json = {{"score", score}, {"signature", signature}}};
}

Report report(const std::string& metric, std::span<const std::string> hypotheses,
              std::span<const std::string> references, const EvaluateOptions& options) {
  if (metric == "bleu") return report_bleu(hypotheses, references, options);
  if (metric == "chrf") return report_chrf(hypotheses, references, options);
  fail(ErrorKind::usage, "evaluate: expected the metrics bleu or chrf, got '", metric, "'");
}

int evaluate_classes(const EvaluateOptions& options, std::ostream& out) {
  const auto classifier = generate::LineClassifier::load(options.model);
  const std::vector<std::string>& labels = classifier.labels();
  const auto lines = data::read_labelled_lines(options.labelled);
  const auto right = data::classes_of(lines, labels, options.labelled.string());
  std::vector<int> given;
  for (const auto& best : classifier.classify(data::texts_of(lines))) {
    given.push_back(best.front().of_class);
  }
  const metrics::ConfusionTable table(right, given, static_cast<int>(labels.size()));
  if (options.json) {
    out << class_report(table, labels, options.confusion)
               .dump(2, ' ', false, Json::error_handler_t::replace)
        << '\n';
  } else {
    out << score_lines(table) << (options.confusion ? confusion_lines(table, labels) : "");
  }
  return 0;
}

}  // namespace

int evaluate(const EvaluateOptions& options, std::istream& in, std::ostream& out) {
  if (!options.labelled.empty()) return evaluate_classes(options, out);
  const auto references = text::read_lines(options.reference);
  const auto hypotheses = text::read_lines(in, standard_input);
  check_as(ErrorKind::data, hypotheses.size() == references.size(),
           "evaluate: ", options.reference.string(), " has ", references.size(), " lines but ",
           standard_input, " has ", hypotheses.size(),
           "; expected one hypothesis for each reference");
  check_as(ErrorKind::data, !references.empty(), "evaluate: ", options.reference.string(),
           ": expected lines of text, found none");

  Json all = {{"lines", references.size()}};
  std::string lines;
  for (const std::string& metric : options.metrics) {
    const Report result = report(metric, hypotheses, references, options);
    all[result.name] = result.json;
    lines += result.line + '\n';
  }
  out << (options.json ? all.dump(2) + '\n' : lines);
  return 0;
}

Command evaluate_command() {
  auto options = std::make_shared<EvaluateOptions>();
  Command command(
      "evaluate",
      "Score translations on standard input, one a line, against their references:\n"
      "BLEU and chrF, equal to those of sacreBLEU 2.3.1; or a classifier on lines with\n"
      "labels: accuracy and macro-F1.",
      "heed translate --model model < test.en | heed evaluate --reference test.de");
  CLI::App* scored = command.app()->add_option_group("What is scored");
  scored->require_option(1);
  scored->add_option("--reference", options->reference, "the right translations, one a line");
  CLI::Option* labelled = scored->add_option("--labelled", options->labelled,
                                             "lines with the right labels: .tsv, .csv or .jsonl");
  CLI::Option* model =
      command.app()->add_option("--model", options->model, "folder of the classifier");
  model->needs(labelled);
  labelled->needs(model);
  command.flag("--confusion", options->confusion, "how often each label was given for each")
      ->needs(labelled);
  command.option("--tokenize", options->tokenize, "how BLEU finds words: 13a, none, intl or char")
      ->check(CLI::IsMember({"13a", "none", "intl", "char"}));
  command.flag("--lowercase", options->lowercase, "ignore upper and lower case");
  command.option("--metrics", options->metrics, "bleu, chrf or both, with a comma between")
      ->delimiter(',')
      ->check(CLI::IsMember({"bleu", "chrf"}));
  command.flag("--json", options->json, "print one JSON object, scores at full precision");
  command.run([options] { return evaluate(*options, std::cin, std::cout); });
  return command;
}

}  // namespace heed::cli
