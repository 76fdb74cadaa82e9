#include "heed/cli/translate_command.h"

#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "heed/base/choices.h"
#include "heed/base/error.h"
#include "heed/cli/one_line.h"
#include "heed/infer/translator.h"
#include "heed/models/model_folder.h"
#include "heed/text/lines.h"

namespace heed::cli {
namespace {

using nlohmann::ordered_json;

models::EarlyStopping early_stopping(const std::string& name,
                                     const infer::BeamSearchOptions& search) {
  check_as(ErrorKind::usage, search.rules == models::SearchRules::transformers,
           "--early-stopping: expected a model of another family, found one of Heed's own");
  return parse_choice<models::EarlyStopping>(name, "--early-stopping");
}

void change_rules(const TranslateOptions& options, models::TokenRules& rules) {
  rules.repetition_penalty = options.repetition_penalty.value_or(rules.repetition_penalty);
  rules.no_repeat_ngram = options.no_repeat_ngram.value_or(rules.no_repeat_ngram);
  if (!options.min_length) return;
  rules.min_new_tokens = *options.min_length;
  rules.min_length = 0;
}

infer::BeamSearchOptions search_options(const TranslateOptions& options,
                                        const infer::Translator& translator) {
  infer::BeamSearchOptions search = translator.default_search();
  search.beam_size = options.beam_size.value_or(search.beam_size);
  search.length_penalty = options.length_penalty.value_or(search.length_penalty);
  search.max_length = options.max_length.value_or(search.max_length);
  search.n_best = options.n_best.value_or(1);
  if (options.early_stopping) {
    search.early_stopping = early_stopping(*options.early_stopping, search);
  }
  change_rules(options, search.token_rules);
  search.num_groups = options.diverse_groups.value_or(search.num_groups);
  search.diversity_penalty = options.diversity_penalty.value_or(search.diversity_penalty);
  search.coverage_penalty = options.coverage_penalty;
  search.constraints =
      infer::Constraints::of_words(options.forbid, options.require, translator.tokenizer());
  return search;
}

// Target prefixes of the next lines.
class Prefixes {
 public:
  explicit Prefixes(const TranslateOptions& options) {
    check_as(ErrorKind::usage, !options.prefix || !options.prefixes,
             "translate: expected --prefix or --prefixes, found both");
    if (options.prefix) all_.push_back(*options.prefix);
    if (options.prefixes) {
      file_ = *options.prefixes;
      all_ = text::read_lines(file_);
    }
  }

  // `first_line` counts from 1.
  std::span<const std::string> of_lines(Index first_line, Index count) const {
    if (file_.empty()) return all_;
    check_as(ErrorKind::data, first_line - 1 + count <= std::ssize(all_), file_,
             ": expected a line for each line of standard input, found ", all_.size());
    return std::span(all_).subspan(first_line - 1, count);
  }

 private:
  std::string file_;  // empty: the same for all lines
  std::vector<std::string> all_;
};

// text [||| score] [||| alignment]
void print_line(std::ostream& out, const infer::Translation& translation,
                const TranslateOptions& options) {
  const infer::TranslatedLine& best = translation.best.front();
  out << on_one_line(best.text);
  if (!best.text.empty()) {
    if (options.scores) out << fmt::format(" ||| {:.4f}", best.normalised_score);
    if (options.alignment) out << " ||| " << metrics::to_pharaoh(best.alignment);
  }
  out << '\n';
}

// number of the line, from 0 ||| text ||| features ||| score [||| alignment]
void print_n_best(std::ostream& out, const infer::Translation& translation, Index line,
                  const TranslateOptions& options) {
  for (const infer::TranslatedLine& one : translation.best) {
    out << fmt::format("{} ||| {} ||| logprob= {:.4f} ||| {:.4f}", line - 1, on_one_line(one.text),
                       one.score, one.normalised_score);
    if (options.alignment) out << " ||| " << metrics::to_pharaoh(one.alignment);
    out << '\n';
  }
}

std::vector<std::string> missing_words(const infer::TranslatedLine& one,
                                       const infer::Constraints& constraints) {
  std::vector<int> ids;
  for (const infer::TokenScore& token : one.tokens) ids.push_back(token.token);
  return constraints.missing_words(ids);
}

ordered_json json_of(const infer::TranslatedLine& one, const text::Tokenizer& tokenizer,
                     const infer::Constraints& constraints, const TranslateOptions& options) {
  ordered_json tokens = ordered_json::array();
  for (const infer::TokenScore& token : one.tokens) {
    tokens.push_back({{"id", token.token},
                      {"piece", tokenizer.piece(token.token)},
                      {"log_probability", token.log_probability}});
  }
  ordered_json object{{"text", one.text},
                      {"log_probability", one.score},
                      {"score", one.normalised_score},
                      {"tokens", tokens}};
  if (!options.require.empty()) object["missing"] = missing_words(one, constraints);
  if (options.alignment) object["alignment"] = metrics::to_pharaoh(one.alignment);
  return object;
}

void print_json(std::ostream& out, const infer::Translation& translation, Index line,
                const text::Tokenizer& tokenizer, const infer::Constraints& constraints,
                const TranslateOptions& options) {
  ordered_json translations = ordered_json::array();
  for (const infer::TranslatedLine& one : translation.best) {
    translations.push_back(json_of(one, tokenizer, constraints, options));
  }
  const ordered_json object{{"line", line}, {"translations", translations}};
  out << object.dump(-1, ' ', false, ordered_json::error_handler_t::replace) << '\n';
}

}  // namespace

int translate(const TranslateOptions& options, std::istream& in, std::ostream& out) {
  const auto translator = infer::Translator::load(options.model, options.weights);
  const Prefixes prefixes(options);
  infer::TranslationOptions how{.search = search_options(options, translator),
                                .truncate = options.truncate,
                                .with_alignment = options.alignment,
                                .with_scores = options.scores || options.json || options.n_best,
                                .batch_tokens = options.batch_tokens};
  const auto print = [&](const infer::Translation& translation, Index line) {
    if (options.json) {
      print_json(out, translation, line, translator.tokenizer(), how.search.constraints, options);
    } else if (options.n_best) {
      print_n_best(out, translation, line, options);
    } else {
      print_line(out, translation, options);
    }
  };
  over_chunks(in, out, options.input_format, [&](std::span<const std::string> lines, Index first) {
    how.first_line = first;
    how.prefixes = prefixes.of_lines(first, std::ssize(lines));
    Index line = first;
    for (const infer::Translation& translation : translator.translate(lines, how)) {
      print(translation, line++);
    }
  });
  return 0;
}

namespace {

void add_search_options(Command& command, TranslateOptions& options) {
  command.group(option_group::search);
  command.number("--beam,--beam-size", options.beam_size, {1, models::max_beam_size},
                 "beam size; 1 is greedy search (default: the model's own, otherwise 5)");
  command.number("--length-penalty", options.length_penalty,
                 {-models::max_length_penalty, models::max_length_penalty},
                 "rank by score / length^PENALTY (default: the model's own, otherwise 1)");
  command.number("--max-length", options.max_length, {1, max_tokens_of_a_text},
                 "longest translation, in tokens (default: the model's own, otherwise twice the "
                 "input plus 50)");
  command.number("--min-length", options.min_length, {0, max_tokens_of_a_text},
                 "shortest translation, in tokens: no end token before (default: the model's own, "
                 "otherwise 1)");
  command.number("--no-repeat-ngram", options.no_repeat_ngram, {0, max_tokens_of_a_text},
                 "no n-gram of this many tokens occurs twice; 0: off (default: the model's own, "
                 "otherwise 0)");
  command.number("--repetition-penalty", options.repetition_penalty, {0.001, 1000},
                 "above 1: tokens so far become less likely (default: the model's own, otherwise "
                 "1)");
  command
      .option("--early-stopping", options.early_stopping,
              "when a full beam stops, for models of other families: yes, at once; no, when the "
              "best would lose if it ended now; never, when it would lose at any length (default: "
              "the model's own, otherwise no)")
      ->check(is_choice<models::EarlyStopping>());
  command.option("--prefix", options.prefix, "target prefix: start every translation with this");
  command
      .option("--prefixes", options.prefixes, "file of target prefixes, one for each input line")
      ->type_name("FILE");
  command.repeatable("--forbid", options.forbid, "forbid this word in the output");
  command.repeatable("--require", options.require, "require this word in the output");
  command.number("--diverse-groups", options.diverse_groups, {1, models::max_beam_size},
                 "groups of diverse beam search; must divide the beam size (default: the model's "
                 "own, otherwise 1)");
  command.number("--diversity-penalty", options.diversity_penalty,
                 {0, infer::largest_score_penalty},
                 "penalty for a token that another group has chosen in the same step (default: the "
                 "model's own, otherwise 0.5)");
  command.number("--coverage-penalty", options.coverage_penalty, {0, infer::largest_score_penalty},
                 "penalty for source words without attention; 0: none");
}

void add_output_options(Command& command, TranslateOptions& options) {
  command.group(option_group::output);
  command.number("--n-best", options.n_best, {1, models::max_beam_size},
                 "print the N best translations: number ||| text ||| features ||| score");
  command.flag("--scores", options.scores, "append ||| and the score");
  command.flag("--alignment", options.alignment,
               "append ||| and the word alignment from cross-attention (Pharaoh format)");
  command.flag("--json", options.json,
               "print one JSON object per line: texts, scores, tokens with log-probabilities");
}

}  // namespace

Command translate_command() {
  auto options = std::make_shared<TranslateOptions>();
  Command command("translate", "Translate standard input, one sentence per line.",
                  "heed translate --model my-model < input.en > output.de");
  command.group(option_group::model);
  command.option("--model", options->model, "model folder")->required()->type_name("FOLDER");
  command.accept_weights(options->weights);
  command.group(option_group::input);
  add_line_format(command, options->input_format);
  command.flag("--truncate", options->truncate, "truncate lines that are too long for the model");
  add_search_options(command, *options);
  add_output_options(command, *options);
  command.accept_batch_tokens(options->batch_tokens, "source tokens in a batch");
  command.accept_threads();
  command.run([options] { return translate(*options, std::cin, std::cout); });
  return command;
}

}  // namespace heed::cli
