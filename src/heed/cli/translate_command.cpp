#include "heed/cli/translate_command.h"

#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "heed/base/parallel.h"
#include "heed/cli/line_chunks.h"
#include "heed/generate/translator.h"

namespace heed::cli {
namespace {

// Enough lines to sort into batches of like lengths, few enough to see output soon.
constexpr std::size_t lines_per_chunk = 2000;

generate::BeamSearchOptions search_options(const TranslateOptions& options,
                                           generate::BeamSearchOptions search) {
  search.beam_size = options.beam_size.value_or(search.beam_size);
  search.length_penalty = options.length_penalty.value_or(search.length_penalty);
  search.max_length = options.max_length.value_or(search.max_length);
  search.n_best = options.n_best.value_or(1);
  return search;
}

// text [||| score] [||| alignment]
void print_line(std::ostream& out, const generate::Translation& translation,
                const TranslateOptions& options) {
  const generate::TranslatedLine& best = translation.best.front();
  out << best.text;
  if (!best.text.empty()) {
    if (options.scores) out << fmt::format(" ||| {:.4f}", best.normalised_score);
    if (options.alignment) out << " ||| " << generate::to_pharaoh(best.alignment);
  }
  out << '\n';
}

// number of the line, from 0 ||| text ||| features ||| score [||| alignment]
void print_n_best(std::ostream& out, const generate::Translation& translation, Index line,
                  const TranslateOptions& options) {
  for (const generate::TranslatedLine& one : translation.best) {
    out << fmt::format("{} ||| {} ||| logprob= {:.4f} ||| {:.4f}", line, one.text, one.score,
                       one.normalised_score);
    if (options.alignment) out << " ||| " << generate::to_pharaoh(one.alignment);
    out << '\n';
  }
}

}  // namespace

int translate(const TranslateOptions& options, std::istream& in, std::ostream& out) {
  const auto translator = generate::Translator::load(options.model);
  generate::TranslationOptions how{.search = search_options(options, translator.default_search()),
                                   .with_alignment = options.alignment,
                                   .batch_tokens = options.batch_tokens};
  LineChunks input(in, "standard input");
  for (auto lines = input.next(lines_per_chunk); !lines.empty();
       lines = input.next(lines_per_chunk)) {
    Index line = input.num_lines() - static_cast<Index>(lines.size());
    how.first_line = line + 1;
    for (const generate::Translation& translation : translator.translate(lines, how)) {
      if (options.n_best) {
        print_n_best(out, translation, line++, options);
      } else {
        print_line(out, translation, options);
      }
    }
    out.flush();
  }
  return 0;
}

Command translate_command() {
  auto options = std::make_shared<TranslateOptions>();
  auto threads = std::make_shared<int>(0);
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
  command.flag("--alignment", options->alignment,
               "add ||| and the words' pairs, source-target, from cross-attention");
  command.flag("--scores", options->scores, "add ||| and the score of each translation");
  command
      .option("--batch-tokens", options->batch_tokens, "input tokens that are translated together")
      ->check(CLI::PositiveNumber);
  app.add_option("--threads", *threads,
                 "threads (default: OMP_NUM_THREADS, otherwise all processors)")
      ->check(CLI::PositiveNumber);
  command.run([options, threads] {
    if (*threads > 0) set_num_threads(*threads);
    return translate(*options, std::cin, std::cout);
  });
  return command;
}

}  // namespace heed::cli
