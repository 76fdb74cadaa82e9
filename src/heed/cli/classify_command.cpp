#include "heed/cli/classify_command.h"

#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "heed/base/parallel.h"
#include "heed/cli/line_chunks.h"
#include "heed/generate/line_classifier.h"

namespace heed::cli {
namespace {

using nlohmann::ordered_json;
using Classes = std::vector<generate::ClassProbability>;

// label TAB probability [TAB label TAB probability ...]
void print_line(std::ostream& out, const Classes& classes, const std::vector<std::string>& labels) {
  const char* between = "";
  for (const generate::ClassProbability& one : classes) {
    out << between << fmt::format("{}\t{:.4f}", labels[one.of_class], one.probability);
    between = "\t";
  }
  out << '\n';
}

void print_json(std::ostream& out, const Classes& classes, const std::vector<std::string>& labels) {
  ordered_json all = ordered_json::array();
  for (const generate::ClassProbability& one : classes) {
    all.push_back({{"label", labels[one.of_class]}, {"probability", one.probability}});
  }
  const ordered_json line{{"classes", all}};
  out << line.dump(-1, ' ', false, ordered_json::error_handler_t::replace) << '\n';
}

}  // namespace

int classify(const ClassifyOptions& options, std::istream& in, std::ostream& out) {
  const auto classifier = generate::LineClassifier::load(options.model);
  over_chunks(in, out, [&](const std::vector<std::string>& lines, Index first_line) {
    const auto results = classifier.classify(
        lines, options.top, {.batch_tokens = options.batch_tokens, .first_line = first_line});
    for (const Classes& classes : results) {
      (options.json ? print_json : print_line)(out, classes, classifier.labels());
    }
  });
  return 0;
}

Command classify_command() {
  auto options = std::make_shared<ClassifyOptions>();
  auto threads = std::make_shared<int>(0);
  Command command("classify", "Tell the class of every line of standard input.",
                  "echo 'is it warm outside' | heed classify --model my-classifier --top 3");
  command.option("--model", options->model, "model folder")->required();
  command.option("--top", options->top, "print the K most likely classes")
      ->check(CLI::PositiveNumber);
  command.flag("--json", options->json, "an object a line: classes with their probabilities");
  command.option("--batch-tokens", options->batch_tokens, "tokens that are read together")
      ->check(CLI::PositiveNumber);
  command.app()
      ->add_option("--threads", *threads,
                   "threads (default: OMP_NUM_THREADS, otherwise all processors)")
      ->check(CLI::PositiveNumber);
  command.run([options, threads] {
    if (*threads > 0) set_num_threads(*threads);
    return classify(*options, std::cin, std::cout);
  });
  return command;
}

}  // namespace heed::cli
