#include "heed/cli/translate_command.h"

#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/cli/line_chunks.h"
#include "heed/infer/translator.h"
#include "heed/text/lines.h"

namespace heed::cli {
namespace {

using nlohmann::ordered_json;

// Enough lines to sort into batches of like lengths, few enough to see output soon.
constexpr std::size_t lines_per_chunk = 2000;

infer::BeamSearchOptions search_options(const TranslateOptions& options,
                                        const infer::Translator& translator) {
  infer::BeamSearchOptions search = translator.default_search();
  search.beam_size = options.beam_size.value_or(search.beam_size);
  search.length_penalty = options.length_penalty.value_or(search.length_penalty);
  search.max_length = options.max_length.value_or(search.max_length);
  search.n_best = options.n_best.value_or(1);
  search.num_groups = options.diverse_groups;
  search.diversity_penalty = options.diversity_penalty;
  search.coverage_penalty = options.coverage_penalty;
  search.constraints =
      infer::Constraints::of_words(options.forbid, options.require, translator.tokenizer());
  return search;
}

// What the translations of the next lines begin with.
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

  std::span<const std::string> of_lines(Index first, Index count) const {
    if (file_.empty()) return all_;
    check_as(ErrorKind::data, first + count <= std::ssize(all_), file_,
             ": expected a line for each line of standard input, found ", all_.size());
    return std::span(all_).subspan(first, count);
  }

 private:
  std::string file_;  // empty: the same for all lines
  std::vector<std::string> all_;
};

// text [||| score] [||| alignment]
void print_line(std::ostream& out, const infer::Translation& translation,
                const TranslateOptions& options) {
  const infer::TranslatedLine& best = translation.best.front();
  out << best.text;
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
    out << fmt::format("{} ||| {} ||| logprob= {:.4f} ||| {:.4f}", line, one.text, one.score,
                       one.normalised_score);
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
  const ordered_json object{{"line", line + 1}, {"translations", translations}};
  out << object.dump(-1, ' ', false, ordered_json::error_handler_t::replace) << '\n';
}

}  // namespace

int translate(const TranslateOptions& options, std::istream& in, std::ostream& out) {
  const auto translator = infer::Translator::load(options.model);
  const Prefixes prefixes(options);
  infer::TranslationOptions how{.search = search_options(options, translator),
                                .truncate = options.truncate,
                                .with_alignment = options.alignment,
                                .with_scores = options.scores || options.json || options.n_best,
                                .batch_tokens = options.batch_tokens};
  LineChunks input(in, "standard input");
  for (auto lines = input.next(lines_per_chunk); !lines.empty();
       lines = input.next(lines_per_chunk)) {
    Index line = input.num_lines() - static_cast<Index>(lines.size());
    how.first_line = line + 1;
    how.prefixes = prefixes.of_lines(line, std::ssize(lines));
    for (const infer::Translation& translation : translator.translate(lines, how)) {
      if (options.json) {
        print_json(out, translation, line, translator.tokenizer(), how.search.constraints, options);
      } else if (options.n_best) {
        print_n_best(out, translation, line, options);
      } else {
        print_line(out, translation, options);
      }
      ++line;
    }
    out.flush();
  }
  return 0;
}

namespace {

void add_search_options(Command& command, const std::shared_ptr<TranslateOptions>& options) {
  CLI::App& app = *command.app();
  command
      .option("--diverse-groups", options->diverse_groups,
              "parts of the beam that must differ from each other; divides the beam")
      ->check(CLI::PositiveNumber);
  command
      .option("--diversity-penalty", options->diversity_penalty,
              "what a token costs for each earlier group's hypothesis that has taken it")
      ->check(CLI::NonNegativeNumber);
  command
      .option("--coverage-penalty", options->coverage_penalty,
              "above 0: translations that leave out parts of the source lose")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--prefix", options->prefix, "begin every translation with this text");
  app.add_option("--prefixes", options->prefixes,
                 "begin each line's translation with that line of this file");
  app.add_option("--forbid", options->forbid, "a word that may not come out; may be said again")
      ->allow_extra_args(false);
  app.add_option("--require", options->require, "a word that must come out; may be said again")
      ->allow_extra_args(false);
  command.flag("--truncate", options->truncate,
               "cut the end of lines that are too long for the model");
}

}  // namespace

Command translate_command() {
  auto options = std::make_shared<TranslateOptions>();
  Command command("translate", "Translate standard input, one sentence per line.",
                  "heed translate --model my-model < input.en > output.de");
  CLI::App& app = *command.app();
  command.option("--model", options->model, "model folder")->required();
  app.add_option("--beam,--beam-size", options->beam_size,
                 "hypotheses kept at each step (default: as the model says, otherwise 5)")
      ->check(CLI::Range(1, 1000));
  app.add_option("--length-penalty", options->length_penalty,
                 "hypotheses compete by score / length^PENALTY (default: as the model says, "
                 "otherwise 1)");
  app.add_option("--max-length", options->max_length,
                 "longest output, in tokens (default: twice the input and 50)")
      ->check(CLI::PositiveNumber);
  app.add_option("--n-best", options->n_best,
                 "print the N best of each line: number ||| text ||| features ||| score")
      ->check(CLI::Range(1, 1000));
  add_search_options(command, options);
  command.flag("--alignment", options->alignment,
               "add ||| and the words' pairs, source-target, from cross-attention");
  command.flag("--scores", options->scores, "add ||| and the score of each translation");
  command.flag("--json", options->json,
               "print one JSON object a line: texts, scores, tokens and their log-probabilities");
  command
      .option("--batch-tokens", options->batch_tokens, "input tokens that are translated together")
      ->check(CLI::PositiveNumber);
  command.accept_threads();
  command.run([options] { return translate(*options, std::cin, std::cout); });
  return command;
}

}  // namespace heed::cli
