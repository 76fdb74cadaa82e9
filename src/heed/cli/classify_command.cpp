#include "heed/cli/classify_command.h"

#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "heed/base/error.h"
#include "heed/cli/one_line.h"
#include "heed/cli/text_pair_lines.h"
#include "heed/infer/image_labeller.h"
#include "heed/infer/line_classifier.h"
#include "heed/infer/line_tagger.h"
#include "heed/models/model_folder.h"

namespace heed::cli {
namespace {

using nlohmann::ordered_json;
using Classes = std::vector<infer::ClassProbability>;

// label TAB probability [TAB label TAB probability ...]
void print_line(std::ostream& out, const Classes& classes) {
  const char* between = "";
  for (const infer::ClassProbability& one : classes) {
    out << between << fmt::format("{}\t{:.4f}", on_one_line(one.label), one.probability);
    between = "\t";
  }
  out << '\n';
}

void print_json(std::ostream& out, const Classes& classes) {
  ordered_json all = ordered_json::array();
  for (const infer::ClassProbability& one : classes) {
    all.push_back({{"label", one.label}, {"probability", one.probability}});
  }
  const ordered_json line{{"classes", all}};
  out << line.dump(-1, ' ', false, ordered_json::error_handler_t::replace) << '\n';
}

void print(std::ostream& out, const ClassifyOptions& options, const std::vector<Classes>& results) {
  for (const Classes& classes : results) {
    (options.json ? print_json : print_line)(out, classes);
  }
}

void print_numbers(std::ostream& out, bool json, const std::vector<double>& numbers) {
  for (const double number : numbers) {
    out << (json ? ordered_json{{"score", number}}.dump() : fmt::format("{:.6g}", number)) << '\n';
  }
}

void check_threshold(const ClassifyOptions& options, bool has_label_sets) {
  check_as(ErrorKind::usage, has_label_sets || !options.threshold, options.model,
           ": --threshold is for models that give a text several labels, and this one does not");
  check_as(ErrorKind::usage, !options.threshold || !options.top,
           "--threshold and --top: expected one of them, found both");
}

// The number of classes to ask for, and the probability from which on they are printed.
struct Selection {
  Index count = 1;
  double threshold = 0;
};

Selection selection(const ClassifyOptions& options, const infer::LineClassifier& classifier) {
  if (options.top) return {.count = *options.top};
  if (classifier.problem_type() != ProblemType::multi_label) return {};
  return {.count = std::ssize(classifier.labels()), .threshold = options.threshold.value_or(0.5)};
}

void drop_unlikely(Classes& classes, double threshold) {
  std::erase_if(classes,
                [&](const infer::ClassProbability& one) { return one.probability < threshold; });
}

void classify_texts(const infer::LineClassifier& classifier, const infer::TextLines& lines,
                    Index first_line, const ClassifyOptions& options, std::ostream& out) {
  const infer::LineOptions how{.batch_tokens = options.batch_tokens, .first_line = first_line};
  if (classifier.problem_type() == ProblemType::regression) {
    return print_numbers(out, options.json, classifier.scores(lines, how));
  }
  const Selection selected = selection(options, classifier);
  auto results = classifier.classify(lines, selected.count, how);
  for (Classes& classes : results) drop_unlikely(classes, selected.threshold);
  print(out, options, results);
}

int classify_lines(const ClassifyOptions& options, std::istream& in, std::ostream& out) {
  const auto classifier = infer::LineClassifier::load(options.model, options.weights);
  check_threshold(options, classifier.problem_type() == ProblemType::multi_label);
  check_as(ErrorKind::usage, !options.top || classifier.problem_type() != ProblemType::regression,
           options.model, ": --top is for models of labels, and this one predicts a number");
  check_as(ErrorKind::usage, !options.pairs || classifier.may_read_pairs(), options.model,
           ": --pairs is for models of pairs, and this one reads single texts");
  const bool has_pairs = options.pairs || classifier.reads_pairs();
  over_chunks(in, out, has_pairs ? LineFormat::text : options.input_format,
              [&](const std::vector<std::string>& lines, Index first_line) {
                if (!has_pairs) {
                  return classify_texts(classifier, {lines}, first_line, options, out);
                }
                const TextPairLines pairs =
                    parse_text_pairs(lines, options.input_format, first_line);
                classify_texts(classifier, {pairs.first, pairs.second}, first_line, options, out);
              });
  return 0;
}

int classify_images(const ClassifyOptions& options, std::istream& in, std::ostream& out) {
  const auto labeller = infer::ImageLabeller::load(options.model, options.weights);
  check_threshold(options, /*has_label_sets=*/false);
  over_chunks(in, out, options.input_format, [&](const std::vector<std::string>& paths, Index) {
    print(out, options, labeller.classify_files(paths, options.top.value_or(1)));
  });
  return 0;
}

using Words = std::vector<infer::WordTag>;

void print_tags(std::ostream& out, const Words& words) {
  const char* between = "";
  for (const infer::WordTag& word : words) out << std::exchange(between, " ") << word.tag;
  out << '\n';
}

void print_json_tags(std::ostream& out, const Words& words) {
  ordered_json line = ordered_json::array();
  for (const infer::WordTag& word : words) {
    line.push_back({{"word", word.word}, {"tag", word.tag}, {"probability", word.probability}});
  }
  out << line.dump(-1, ' ', false, ordered_json::error_handler_t::replace) << '\n';
}

int tag_words(const ClassifyOptions& options, std::istream& in, std::ostream& out) {
  check_threshold(options, /*has_label_sets=*/false);
  check_as(ErrorKind::usage, options.top.value_or(1) == 1, "`top`: expected 1 for a tagger, found ",
           options.top.value_or(1));
  const auto tagger = infer::LineTagger::load(options.model, options.weights);
  over_chunks(
      in, out, options.input_format, [&](const std::vector<std::string>& lines, Index first_line) {
        const auto results =
            tagger.tag(lines, {.batch_tokens = options.batch_tokens, .first_line = first_line});
        for (const Words& words : results)
          (options.json ? print_json_tags : print_tags)(out, words);
      });
  return 0;
}

}  // namespace

int classify(const ClassifyOptions& options, std::istream& in, std::ostream& out) {
  switch (models::load_config(options.model).kind) {
    case models::ModelKind::image_classifier:
      return classify_images(options, in, out);
    case models::ModelKind::tagger:
      return tag_words(options, in, out);
    default:
      return classify_lines(options, in, out);
  }
}

Command classify_command() {
  auto options = std::make_shared<ClassifyOptions>();
  Command command("classify",
                  "Classify every line of standard input.\n"
                  "A line is a text or, for an image classifier, the path of an image. For a model "
                  "of pairs it is two texts with a tab between them, or an array of two strings "
                  "with --json-input. A tagger gives every word of the line its tag.",
                  "echo 'is it warm outside' | heed classify --model my-classifier --top 3");
  command.group(option_group::model);
  command.option("--model", options->model, "model folder")->required()->type_name("FOLDER");
  command.accept_weights(options->weights);
  add_line_format(command, options->input_format);
  command.flag("--pairs", options->pairs,
               "lines are pairs of texts, for a model of Hugging Face that was trained on pairs");
  command.group(option_group::output);
  command.number("--top,--top-k", options->top, {1, max_top}, "print the K most likely labels");
  command.number("--threshold", options->threshold, {0.0, 1.0},
                 "print all labels of at least this probability, for models that give several "
                 "[0.5]");
  command.flag("--json", options->json,
               "print one JSON value per line: labels or tagged words with their probabilities, or "
               "a score");
  command.accept_batch_tokens(options->batch_tokens, "tokens in a batch");
  command.accept_threads();
  command.run([options] { return classify(*options, std::cin, std::cout); });
  return command;
}

}  // namespace heed::cli
