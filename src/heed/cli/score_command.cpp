#include "heed/cli/score_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/cli/one_line.h"
#include "heed/infer/scoring.h"
#include "heed/text/lines.h"

namespace heed::cli {
namespace {

using nlohmann::ordered_json;

constexpr char standard_input[] = "standard input";

// A piece as a field of a line: without spaces either.
std::string as_field(const std::string& piece) {
  std::string field;
  for (const char c : on_one_line(piece)) field += c == ' ' ? "\\s" : std::string(1, c);
  return field;
}

// score [||| piece log-probability ...]
void print_line(std::ostream& out, const infer::ScoredLine& line, const text::Tokenizer& tokenizer,
                const ScoreOptions& options) {
  out << fmt::format("{:.4f}", line.log_probability());
  if (options.tokens) {
    out << " |||";
    for (const infer::TokenScore& token : line.tokens) {
      out << fmt::format(" {} {:.4f}", as_field(tokenizer.piece(token.token)),
                         token.log_probability);
    }
  }
  out << '\n';
}

void print_json(std::ostream& out, const infer::ScoredLine& line, const text::Tokenizer& tokenizer,
                const ScoreOptions& options) {
  ordered_json object{{"log_probability", line.log_probability()},
                      {"num_tokens", line.tokens.size()},
                      {"truncated", line.is_truncated}};
  if (options.tokens) {
    object["tokens"] = ordered_json::array();
    for (const infer::TokenScore& token : line.tokens) {
      object["tokens"].push_back({{"id", token.token},
                                  {"piece", tokenizer.piece(token.token)},
                                  {"log_probability", token.log_probability}});
    }
  }
  out << object.dump(-1, ' ', false, ordered_json::error_handler_t::replace) << '\n';
}

void print(std::ostream& out, std::span<const infer::ScoredLine> lines,
           const text::Tokenizer& tokenizer, const ScoreOptions& options) {
  for (const infer::ScoredLine& line : lines) {
    (options.json ? print_json : print_line)(out, line, tokenizer, options);
  }
}

text::ParallelLines split_at_tabs(std::span<const std::string> lines, Index first_line) {
  text::ParallelLines pairs;
  for (const std::string& line : lines) {
    const std::size_t tab = line.find('\t');
    const bool is_pair = tab != std::string::npos && line.find('\t', tab + 1) == std::string::npos;
    check_as(ErrorKind::data, is_pair, standard_input, ":", first_line + (&line - lines.data()),
             ": expected a source, one tab and a target, found ", std::ranges::count(line, '\t'),
             " tabs");
    pairs.source.push_back(line.substr(0, tab));
    pairs.target.push_back(line.substr(tab + 1));
  }
  return pairs;
}

void score_texts(const ScoreOptions& options, std::istream& in, std::ostream& out) {
  check_as(ErrorKind::usage, !options.source && !options.target,
           "score: expected lines on standard input for a language model, found --source or "
           "--target");
  const auto scorer = infer::LineScorer::load(options.model, options.weights);
  over_chunks(in, out, options.input_format,
              [&](std::span<const std::string> lines, Index first_line) {
                print(out,
                      scorer.score(lines, {.batch_tokens = options.batch_tokens,
                                           .truncate = options.truncate,
                                           .first_line = first_line}),
                      scorer.tokenizer(), options);
              });
}

void score_pairs(const ScoreOptions& options, std::istream& in, std::ostream& out) {
  check_as(ErrorKind::usage, options.source.has_value() == options.target.has_value(),
           "score: expected --source and --target or none of them, found one");
  const auto scorer = infer::PairScorer::load(options.model, options.weights);
  const auto score_lines = [&](const text::ParallelLines& pairs, Index first_line) {
    print(out,
          scorer.score(pairs.source, pairs.target,
                       {.batch_tokens = options.batch_tokens,
                        .truncate = options.truncate,
                        .first_line = first_line}),
          scorer.tokenizer(), options);
  };
  if (options.source) {
    score_lines(text::read_parallel_lines(*options.source, *options.target), 1);
  } else {
    over_chunks(in, out, options.input_format,
                [&](std::span<const std::string> lines, Index first_line) {
                  score_lines(split_at_tabs(lines, first_line), first_line);
                });
  }
}

}  // namespace

int score(const ScoreOptions& options, std::istream& in, std::ostream& out) {
  const models::ModelKind kind = models::load_config(options.model).kind;
  (kind == models::ModelKind::language ? score_texts : score_pairs)(options, in, out);
  return 0;
}

Command score_command() {
  auto options = std::make_shared<ScoreOptions>();
  Command command("score",
                  "Print the log-probability of each line under a model.\n"
                  "A language model reads lines, a translation model reads source TAB target.",
                  "paste test.en test.de | heed score --model my-model");
  command.group(option_group::model);
  command.option("--model", options->model, "model folder")->required()->type_name("FOLDER");
  command.accept_weights(options->weights);
  command.group(option_group::input);
  add_line_format(command, options->input_format);
  command.option("--source", options->source, "sources, instead of standard input")
      ->type_name("FILE");
  command.option("--target", options->target, "their translations, line by line")
      ->type_name("FILE");
  command.flag("--truncate", options->truncate, "truncate lines that are too long for the model");
  command.group(option_group::output);
  command.flag("--tokens", options->tokens, "append ||| and every token with its log-probability");
  command.flag("--json", options->json, "print one JSON object per line");
  command.accept_batch_tokens(options->batch_tokens, "tokens in a batch");
  command.accept_threads();
  command.run([options] { return score(*options, std::cin, std::cout); });
  return command;
}

}  // namespace heed::cli
