#include "heed/cli/evaluate_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "heed/base/error.h"
#include "heed/cli/class_report.h"
#include "heed/cli/contrastive_report.h"
#include "heed/cli/tag_report.h"
#include "heed/data/contrastive_items.h"
#include "heed/data/labelled_images.h"
#include "heed/data/labelled_lines.h"
#include "heed/data/records.h"
#include "heed/data/tagged_lines.h"
#include "heed/infer/contrastive.h"
#include "heed/infer/greedy_answers.h"
#include "heed/infer/image_labeller.h"
#include "heed/infer/line_classifier.h"
#include "heed/infer/line_tagger.h"
#include "heed/infer/patch_grid.h"
#include "heed/infer/text_likelihood.h"
#include "heed/infer/translator.h"
#include "heed/metrics/answers.h"
#include "heed/metrics/bleu.h"
#include "heed/metrics/chrf.h"
#include "heed/metrics/group_accuracy.h"
#include "heed/metrics/perplexity.h"
#include "heed/metrics/rouge.h"
#include "heed/models/model_folder.h"
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
  const metrics::BleuOptions settings{
      .tokenizer = parse_choice<metrics::BleuTokenizer>(options.tokenize, "--tokenize"),
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

// In percent, as BLEU and chrF are.
Json percent(const metrics::PrecisionRecall& scores) {
  return {{"precision", 100 * scores.precision},
          {"recall", 100 * scores.recall},
          {"f1", 100 * scores.f1}};
}

Report report_rouge(std::span<const std::string> hypotheses,
                    std::span<const std::string> references, const EvaluateOptions& options) {
  const metrics::RougeOptions settings{.stem = options.stem};
  const metrics::RougeScores rouge = metrics::corpus_rouge(hypotheses, references, settings);
  const std::string signature = metrics::rouge_signature(settings);
  return {.name = "rouge",
          .line = fmt::format("ROUGE|{} = ROUGE-1 {:.2f} ROUGE-2 {:.2f} ROUGE-L {:.2f} "
                              "ROUGE-Lsum {:.2f}",
                              signature, 100 * rouge.rouge_1.f1, 100 * rouge.rouge_2.f1,
                              100 * rouge.rouge_l.f1, 100 * rouge.rouge_lsum.f1),
          .json = {{"signature", signature},
                   {"rouge1", percent(rouge.rouge_1)},
                   {"rouge2", percent(rouge.rouge_2)},
                   {"rougeL", percent(rouge.rouge_l)},
                   {"rougeLsum", percent(rouge.rouge_lsum)}}};
}

Report report_exact_match(std::span<const std::string> hypotheses,
                          std::span<const std::string> references, const EvaluateOptions& options) {
  const metrics::ExactMatchOptions settings{.lowercase = options.lowercase};
  const auto count = metrics::count_exact_matches(hypotheses, references, settings);
  const auto num_lines = static_cast<double>(std::max<std::size_t>(hypotheses.size(), 1));
  const double score = 100 * static_cast<double>(count) / num_lines;
  const std::string signature = metrics::exact_match_signature(settings);
  return {.name = "exact_match",
          .line = fmt::format("exact match|{} = {:.2f} ({} of {})", signature, score, count,
                              hypotheses.size()),
          .json = {{"score", score}, {"signature", signature}, {"matches", count}}};
}

Report report_squad(std::span<const std::string> hypotheses,
                    std::span<const std::string> references, const EvaluateOptions&) {
  const metrics::SquadScores squad = metrics::corpus_squad(hypotheses, references);
  const std::string signature = metrics::squad_signature();
  return {.name = "squad",
          .line = fmt::format("SQuAD|{} = exact match {:.2f} F1 {:.2f}", signature,
                              100 * squad.exact_match, 100 * squad.f1),
          .json = {{"signature", signature},
                   {"exact_match", 100 * squad.exact_match},
                   {"f1", 100 * squad.f1}}};
}

struct Metric {
  const char* name;
  Report (*report)(std::span<const std::string> hypotheses, std::span<const std::string> references,
                   const EvaluateOptions& options);
};

constexpr Metric all_metrics[] = {{"bleu", report_bleu},
                                  {"chrf", report_chrf},
                                  {"rouge", report_rouge},
                                  {"exact-match", report_exact_match},
                                  {"squad", report_squad}};

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const Metric& metric : all_metrics) names.emplace_back(metric.name);
  return names;
}

std::string joined_names() { return fmt::format("{}", fmt::join(metric_names(), ", ")); }

Report report(const std::string& name, std::span<const std::string> hypotheses,
              std::span<const std::string> references, const EvaluateOptions& options) {
  for (const Metric& metric : all_metrics) {
    if (metric.name == name) return metric.report(hypotheses, references, options);
  }
  fail(ErrorKind::usage, "--metrics: expected one of ", joined_names(), ", found ", name);
}

int print_metrics(const EvaluateOptions& options, std::span<const std::string> hypotheses,
                  std::span<const std::string> references, std::ostream& out) {
  Json all = {{"lines", references.size()}};
  std::string lines;
  for (const std::string& metric : options.metrics) {
    const Report result = report(metric, hypotheses, references, options);
    all[result.name] = result.json;
    lines += result.line + '\n';
  }
  out << (options.json ? all.dump() + '\n' : lines);
  return 0;
}

data::RecordOptions record_options(const EvaluateOptions& options, data::FieldCount num_fields) {
  return {.fields = data::parse_field_names(options.fields, num_fields, "`fields`"),
          .has_header = options.header};
}

int evaluate_translator(const EvaluateOptions& options, std::ostream& out) {
  const auto translator = infer::Translator::load(options.model, options.weights);
  const text::ParallelLines pairs =
      options.pairs.empty()
          ? text::read_parallel_lines(options.source, options.target)
          : data::read_record_pairs(options.pairs, record_options(options, 2)).lines;
  infer::TranslationOptions how{
      .search = translator.default_search(), .truncate = options.truncate, .with_scores = false};
  how.search.beam_size = options.beam_size.value_or(how.search.beam_size);
  std::vector<std::string> hypotheses;
  for (const infer::Translation& translation : translator.translate(pairs.source, how)) {
    hypotheses.push_back(translation.text());
  }
  return print_metrics(options, hypotheses, pairs.target, out);
}

void print_report(std::ostream& out, const Json& report) {
  out << report.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

int evaluate_contrastive(const EvaluateOptions& options, std::ostream& out) {
  const auto scorer = infer::PairScorer::load(options.model, options.weights);
  const std::vector<data::ContrastiveItem> items =
      data::read_contrastive_items(options.contrastive, record_options(options, 2));
  const auto scores = infer::score_contrastive(
      scorer, items, {.normalize = options.normalize, .truncate = options.truncate});
  std::vector<bool> is_right;
  std::vector<std::string> groups;
  for (std::size_t i = 0; i < items.size(); ++i) {
    is_right.push_back(scores[i].is_right());
    groups.push_back(items[i].group);
  }
  const auto total = metrics::total_accuracy(is_right);
  const auto by_group = metrics::accuracy_by_group(is_right, groups);
  if (options.json) {
    Json report = contrastive_report(total, by_group);
    report["normalized"] = options.normalize;
    print_report(out, report);
  } else {
    out << accuracy_lines(total, by_group);
  }
  return 0;
}

int evaluate_prompts(const EvaluateOptions& options, std::ostream& out) {
  const auto generator = infer::TextGenerator::load(options.model, options.weights);
  const text::ParallelLines pairs =
      data::read_record_pairs(options.prompts, record_options(options, 2), data::prompt_roles())
          .lines;
  const std::vector<std::string> answers = infer::greedy_answers(
      generator, pairs.source, {.max_tokens = options.max_tokens, .truncate = options.truncate});
  return print_metrics(options, answers, pairs.target, out);
}

using Classes = std::vector<std::vector<infer::ClassProbability>>;

// The scores of the most likely classes, where `right` are the right ones.
int print_scores(const EvaluateOptions& options, const std::vector<int>& right,
                 const Classes& results, const std::vector<std::string>& labels,
                 std::ostream& out) {
  std::vector<int> given;
  for (const auto& best : results) given.push_back(best.front().of_class);
  const metrics::ConfusionTable table(right, given, static_cast<int>(labels.size()));
  if (options.json) {
    print_report(out, class_report(table, labels, options.confusion));
  } else {
    out << score_lines(table) << (options.confusion ? confusion_lines(table, labels) : "");
  }
  return 0;
}

// The labels of each line that are likely enough.
std::vector<metrics::LabelSet> likely_labels(const Classes& results, double threshold) {
  std::vector<metrics::LabelSet> sets;
  for (const auto& probabilities : results) {
    metrics::LabelSet& set = sets.emplace_back();
    for (const infer::ClassProbability& one : probabilities) {
      if (one.probability >= threshold) set.push_back(one.of_class);
    }
    std::ranges::sort(set);
  }
  return sets;
}

int print_label_scores(const EvaluateOptions& options, const metrics::LabelCounts& counts,
                       const std::vector<std::string>& labels, std::ostream& out) {
  if (options.json) {
    print_report(out, label_report(counts, labels));
  } else {
    out << score_lines(counts);
  }
  return 0;
}

int print_number_scores(const EvaluateOptions& options, const std::vector<double>& right,
                        const std::vector<double>& given, std::ostream& out) {
  if (options.json) {
    print_report(out, number_report(right, given));
  } else {
    out << number_score_lines(right, given);
  }
  return 0;
}

void check_fits(const EvaluateOptions& options, ProblemType problem) {
  check_as(ErrorKind::usage, !options.threshold || problem == ProblemType::multi_label,
           options.model,
           ": --threshold is for models that give a text several labels, and this one does not");
  check_as(ErrorKind::usage, !options.confusion || problem == ProblemType::single_label,
           options.model,
           ": --confusion is for models that give a text one label, and this one "
           "is for ",
           name_of(problem));
}

data::LabelledLines read_labelled_lines(const EvaluateOptions& options,
                                        const infer::LineClassifier& classifier) {
  const auto read = [&](data::FieldCount num_fields, data::TextPairs pairs) {
    return data::read_labelled_lines(options.labelled, record_options(options, num_fields),
                                     classifier.problem_type(), pairs);
  };
  if (classifier.reads_pairs()) return read(3, data::TextPairs::always);
  if (classifier.may_read_pairs()) return read({2, 3}, data::TextPairs::if_named);
  return read(2, data::TextPairs::never);
}

int evaluate_lines(const EvaluateOptions& options, std::ostream& out) {
  const auto classifier = infer::LineClassifier::load(options.model, options.weights);
  const ProblemType problem = classifier.problem_type();
  check_fits(options, problem);
  const auto file = read_labelled_lines(options, classifier);
  const auto& lines = file.lines;
  const bool has_pairs = file.has_pairs;
  const std::vector<std::string> first = data::texts_of(lines);
  const std::vector<std::string> second =
      has_pairs ? data::second_texts_of(lines) : std::vector<std::string>();
  const auto right =
      data::targets_of(lines, classifier.labels(), options.labelled.string(), problem);
  if (problem == ProblemType::regression) {
    return print_number_scores(options, right.numbers, classifier.scores({first, second}), out);
  }
  const auto num_labels = std::ssize(classifier.labels());
  const Classes results = classifier.classify(infer::TextLines{first, second},
                                              problem == ProblemType::multi_label ? num_labels : 1);
  if (problem == ProblemType::single_label) {
    return print_scores(options, right.classes, results, classifier.labels(), out);
  }
  const metrics::LabelCounts counts(right.label_sets,
                                    likely_labels(results, options.threshold.value_or(0.5)),
                                    static_cast<int>(num_labels));
  return print_label_scores(options, counts, classifier.labels(), out);
}

int evaluate_words(const EvaluateOptions& options, std::ostream& out) {
  check_fits(options, ProblemType::single_label);
  const auto tagger = infer::LineTagger::load(options.model, options.weights);
  const auto lines = data::read_tagged_lines(options.tagged);
  const auto right = data::tag_numbers(lines, tagger.tags(), options.tagged.string());
  std::vector<std::vector<int>> predicted;
  for (const auto& words : tagger.tag(data::texts_of(lines))) {
    predicted.emplace_back();
    for (const infer::WordTag& word : words) predicted.back().push_back(word.number);
  }
  const metrics::TagScores scores = metrics::score_tags(predicted, right, tagger.tags());
  if (options.json) {
    print_report(out, tag_report(scores, tagger.tags(), options.confusion));
  } else {
    out << score_lines(scores)
        << (options.confusion ? confusion_lines(scores.words, tagger.tags()) : "");
  }
  return 0;
}

int evaluate_images(const EvaluateOptions& options, std::ostream& out) {
  check_fits(options, ProblemType::single_label);
  const auto labeller = infer::ImageLabeller::load(options.model, options.weights);
  const auto images = data::LabelledImages::read(
      options.images.string(), data::ImagePart::test, infer::patch_grid(labeller.config()).image,
      labeller.labels(), infer::resampling(labeller.preprocessor()));
  std::vector<int> right;
  std::vector<data::Pixels> pixels;
  for (Index i = 0; i < images.size(); ++i) {
    right.push_back(images.class_of(i));
    pixels.push_back(images.pixels(i));
  }
  return print_scores(options, right, labeller.classify(pixels), labeller.labels(), out);
}

int evaluate_text(const EvaluateOptions& options, std::ostream& out) {
  const auto [model, tokenizer, generation] = models::load_model_folder<models::LanguageModel>(
      options.model, {.for_inference = true, .weights = options.weights});
  const std::vector<std::string> lines =
      text::read_lines(options.text, text::max_running_line_bytes);
  check_as(ErrorKind::data, !lines.empty(), options.text.string(),
           ": expected lines of text, found none");
  const auto likelihood = infer::text_likelihood(model, tokenizer, lines);
  const double loss = likelihood.negative_log_likelihood;
  metrics::TextLength length;
  for (const std::string& line : lines) length.add(line + '\n', 0);
  length.tokens = likelihood.num_tokens;
  const metrics::Perplexity perplexity = metrics::perplexity(loss, length);
  check_as(ErrorKind::model, std::isfinite(perplexity.token),
           "model: expected a finite perplexity, found infinity");
  if (options.json) {
    const auto unit = [&](double of_unit, Index count) {
      return Json{
          {"perplexity", of_unit}, {"loss", loss / static_cast<double>(count)}, {"count", count}};
    };
    out << Json{{"token", unit(perplexity.token, length.tokens)},
                {"word", unit(perplexity.word, length.words)},
                {"character", unit(perplexity.character, length.characters)}}
               .dump()
        << '\n';
    return 0;
  }
  const auto print = [&](const char* name, double of_unit, Index count) {
    out << fmt::format("perplexity per {} {:.4f} (loss {:.4f}, {} {}s)\n", name, of_unit,
                       loss / static_cast<double>(count), count, name);
  };
  print("token", perplexity.token, length.tokens);
  print("word", perplexity.word, length.words);
  print("character", perplexity.character, length.characters);
  return 0;
}

}  // namespace

int evaluate(const EvaluateOptions& options, std::istream& in, std::ostream& out) {
  if (!options.source.empty() || !options.pairs.empty()) return evaluate_translator(options, out);
  if (!options.contrastive.empty()) return evaluate_contrastive(options, out);
  if (!options.text.empty()) return evaluate_text(options, out);
  if (!options.prompts.empty()) return evaluate_prompts(options, out);
  if (!options.labelled.empty()) return evaluate_lines(options, out);
  if (!options.tagged.empty()) return evaluate_words(options, out);
  if (!options.images.empty()) return evaluate_images(options, out);
  const auto references = text::read_lines(options.reference);
  const auto hypotheses = text::read_lines(in, standard_input);
  check_as(ErrorKind::data, hypotheses.size() == references.size(),
           "evaluate: ", options.reference.string(), " has ", references.size(), " lines but ",
           standard_input, " has ", hypotheses.size(),
           "; expected one hypothesis for each reference");
  check_as(ErrorKind::data, !references.empty(), "evaluate: ", options.reference.string(),
           ": expected lines of text, found none");
  return print_metrics(options, hypotheses, references, out);
}

namespace {

// For files of records.
std::vector<CLI::Option*> add_column_options(Command& command, EvaluateOptions& options) {
  CLI::Option* fields = command.option("--fields", options.fields,
                                       "columns of source,target, label,text[,text_pair] or "
                                       "prompt,answer: names, or numbers from 1");
  const auto flag = [&](const char* name, bool value, const char* description) {
    const auto set = [&options, value] { options.header = value; };
    return command.app()->add_flag_callback(name, set, description)->group(option_group::input);
  };
  CLI::Option* present =
      flag("--header", true, "the first row of .tsv and .csv is a header (default: recognised)");
  CLI::Option* absent = flag("--no-header", false, "the opposite of --header");
  absent->excludes(present);
  return {fields, present, absent};
}

// Exactly one kind of data is scored, and all but references need a model.
void add_input_options(Command& command, EvaluateOptions& options) {
  CLI::App& app = *command.app();
  CLI::Option* model = command.option("--model", options.model, "model folder");
  model->type_name("FOLDER");
  command.accept_weights(options.weights)->needs(model);

  CLI::App* data = app.add_option_group(option_group::input);
  data->require_option(1);
  const auto add = [&](const char* name, std::filesystem::path& path, const char* type,
                       const char* description) {
    return data->add_option(name, path, description)->type_name(type)->group(option_group::input);
  };
  CLI::Option* reference = add("--reference", options.reference, "FILE",
                               "references for the translations on standard input");
  CLI::Option* source = add("--source", options.source, "FILE", "sources to translate");
  CLI::Option* pairs = add("--pairs", options.pairs, "FILE",
                           "sources and references in one file: .tsv, .csv or .jsonl");
  CLI::Option* contrastive =
      add("--contrastive", options.contrastive, "FILE",
          "sources, references and wrong translations, to be ranked: .tsv, .csv or .jsonl");
  CLI::Option* text =
      add("--text", options.text, "FILE", "text for the perplexity of a language model");
  CLI::Option* prompts = add("--prompts", options.prompts, "FILE",
                             "prompts with answers for a language model: .tsv, .csv or .jsonl");
  CLI::Option* labelled = add("--labelled,--labeled", options.labelled, "FILE",
                              "labelled lines for a classifier: .tsv, .csv or .jsonl");
  CLI::Option* tagged = add("--tagged", options.tagged, "FILE",
                            "words with tags for a tagger: one word a line, or .jsonl");
  CLI::Option* images =
      add("--images", options.images, "FOLDER",
          "images for a classifier: a folder for each label, or the test set of MNIST or CIFAR-10");
  for (CLI::Option* needs_model :
       {source, pairs, contrastive, text, prompts, labelled, tagged, images}) {
    needs_model->needs(model);
  }
  model->excludes(reference);

  command.group(option_group::input);
  CLI::Option* target = command.option("--target", options.target, "references of --source");
  target->type_name("FILE")->needs(source);
  source->needs(target);
  for (CLI::Option* option : add_column_options(command, options)) {
    for (CLI::Option* other : {reference, source, text, tagged, images}) option->excludes(other);
  }
  command.flag("--truncate", options.truncate, "truncate texts that are too long for the model");
  command
      .flag("--normalize", options.normalize,
            "rank translations of --contrastive by their log-probability per token")
      ->needs(contrastive);
  command
      .number("--max-tokens", options.max_tokens, {1, max_tokens_of_a_text},
              "longest answer to a prompt, in tokens")
      ->needs(prompts);
  command.group(option_group::output);
  command
      .flag("--confusion", options.confusion,
            "print the confusion matrix of a classifier or tagger")
      ->excludes(reference);
  command
      .number("--threshold", options.threshold, {0.0, 1.0},
              "probability from which on a text has a label, of several [0.5]")
      ->needs(labelled);
}

}  // namespace

Command evaluate_command() {
  auto options = std::make_shared<EvaluateOptions>();
  Command command(
      "evaluate",
      "Score translations, or a model on its task.\n"
      "Translations: BLEU and chrF, equal to sacreBLEU 2.3.1. Language models: perplexity.\n"
      "Summaries: ROUGE, equal to rouge-score 0.1.2. Answers: exact match, F1 as in SQuAD 2.0.\n"
      "Contrastive translations: how often the reference is likelier than the wrong ones.\n"
      "Classifiers of text or images: accuracy and macro-F1; of several labels: micro-F1, macro-F1 "
      "and subset accuracy. Regression: Pearson, Spearman and mean squared error.\n"
      "Taggers: accuracy, and F1 of entities, equal to seqeval 1.2.",
      "heed evaluate --model my-model --source test.en --target test.de");
  command.group(option_group::model);
  add_input_options(command, *options);
  command.group(option_group::search);
  command.number("--beam,--beam-size", options->beam_size, {1, models::max_beam_size},
                 "beam size; 1 is greedy search (default: the model's own, otherwise 5)");
  command.group("Metrics");
  command
      .option("--metrics", options->metrics,
              "one or more of " + joined_names() + ", separated by commas")
      ->delimiter(',')
      ->check(is_one_of(metric_names()));
  command
      .option("--tokenize", options->tokenize,
              "BLEU tokenizer: " + choice_names<metrics::BleuTokenizer>())
      ->check(is_choice<metrics::BleuTokenizer>());
  command.flag("--lowercase", options->lowercase,
               "case-insensitive scores; ROUGE and SQuAD always are");
  command.flag("--stem", options->stem, "ROUGE of word stems (Porter, English)");
  command.group(option_group::output);
  command.flag("--json", options->json,
               "print one JSON object on one line, scores at full precision");
  command.accept_threads();
  command.run([options] { return evaluate(*options, std::cin, std::cout); });
  return command;
}

}  // namespace heed::cli
