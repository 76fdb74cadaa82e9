#include "heed/cli/generate_command.h"

#include <unistd.h>

#include <iostream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "heed/cli/line_editor.h"
#include "heed/cli/one_line.h"

namespace heed::cli {
namespace {

using nlohmann::ordered_json;

// Prompts in a batch.
constexpr std::size_t prompts_per_batch = 16;

// Prints texts that are generated in one batch one after another: the first unfinished one is
// printed as it is generated, the others wait.
class TextsInOrder {
 public:
  TextsInOrder(std::ostream& out, const GenerateOptions& options,
               std::span<const std::string> prompts, bool is_first)
      : out_(out), options_(options), prompts_(prompts), is_first_(is_first) {
    start_text();
  }

  void add(std::size_t number, std::string_view part) {
    if (number == number_) {
      out_ << on_several_lines(part) << std::flush;
    } else {
      waiting_.resize(std::max(waiting_.size(), number + 1));
      waiting_[number] += part;
    }
  }

  // All texts are finished.
  void finish(std::size_t num_texts) {
    while (true) {
      out_ << std::endl;
      if (++number_ == num_texts) return;
      start_text();
      if (number_ < waiting_.size()) out_ << on_several_lines(waiting_[number_]);
    }
  }

 private:
  void start_text() {
    if (!std::exchange(is_first_, false)) out_ << options_.separator << '\n';
    if (options_.echo) {
      out_ << on_several_lines(prompts_[number_ / options_.generation.num_samples]);
    }
  }

  std::ostream& out_;
  const GenerateOptions& options_;
  std::span<const std::string> prompts_;
  bool is_first_;
  std::size_t number_ = 0;  // of the text that is printed now
  std::vector<std::string> waiting_;
};

void print_json(std::ostream& out, const std::string& prompt, const infer::GeneratedText& result,
                const text::Tokenizer& tokenizer, const GenerateOptions& options) {
  ordered_json tokens = ordered_json::array();
  for (const infer::TokenScore& token : result.tokens) {
    tokens.push_back({{"id", token.token},
                      {"piece", tokenizer.piece(token.token)},
                      {"log_probability", token.log_probability}});
  }
  ordered_json line{{"prompt", prompt},
                    {"text", result.text},
                    {"ending", infer::to_string(result.ending)},
                    {"tokens", tokens}};
  if (!options.require.empty()) line["missing"] = result.missing;
  out << line.dump(-1, ' ', false, ordered_json::error_handler_t::replace) << std::endl;
}

void generate_batch(const infer::TextGenerator& generator, std::span<const std::string> prompts,
                    const GenerateOptions& options, std::ostream& out) {
  if (options.json) {
    const auto texts = generator.generate(prompts, options.generation);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      print_json(out, prompts[i / options.generation.num_samples], texts[i], generator.tokenizer(),
                 options);
    }
    return;
  }
  TextsInOrder texts(out, options, prompts, options.generation.first_prompt == 1);
  const auto add = [&](std::size_t number, std::string_view part) { texts.add(number, part); };
  texts.finish(generator.generate(prompts, options.generation, add).size());
}

// The options with the forbidden and required words as tokens.
GenerateOptions with_constraints(GenerateOptions options, const text::Tokenizer& tokenizer) {
  options.generation.constraints =
      infer::Constraints::of_words(options.forbid, options.require, tokenizer);
  return options;
}

}  // namespace

int generate(const GenerateOptions& options, std::istream& in, std::ostream& out) {
  const auto generator = infer::TextGenerator::load(options.model, options.weights);
  GenerateOptions batch = with_constraints(options, generator.tokenizer());
  if (options.prompt) {
    generate_batch(generator, std::span(&*options.prompt, 1), batch, out);
    return 0;
  }
  LineChunks input(in, "standard input", options.input_format);
  for (auto prompts = input.next(prompts_per_batch); !prompts.empty();
       prompts = input.next(prompts_per_batch)) {
    generate_batch(generator, prompts, batch, out);
    batch.generation.first_prompt += std::ssize(prompts);
  }
  return 0;
}

int converse(const GenerateOptions& options, std::ostream& out) {
  const auto generator = infer::TextGenerator::load(options.model, options.weights);
  LineEditor lines("> ");
  GenerateOptions one = with_constraints(options, generator.tokenizer());
  one.separator = "";
  while (const std::optional<std::string> line = lines.next()) {
    try {
      generate_batch(generator, std::span(&*line, 1), one, out);
      ++one.generation.first_prompt;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::data) throw;
      std::cerr << "heed: " << error.what() << std::endl;  // the next line may be shorter
    }
  }
  out << std::endl;
  return 0;
}

namespace {

void add_sampling_options(Command& command, infer::GenerationOptions& options) {
  infer::SamplingOptions& sampling = options.sampling;
  command.group("Sampling");
  command.number("--temperature", sampling.temperature, {0, 1000},
                 "softmax temperature; below 1: more likely tokens, 0: greedy");
  command.number("--top-k", sampling.top_k, {0, max_top},
                 "sample from the K most likely tokens; 0: all");
  command.number("--top-p", sampling.top_p, {0, 1},
                 "nucleus sampling: the most likely tokens that sum to this probability");
  command.number("--min-p", sampling.min_p, {0, 1},
                 "drop tokens below this share of the most likely token's probability");
  command.number("--repetition-penalty", sampling.repetition_penalty, {0, 1000},
                 "above 1: tokens of the text so far become less likely");
  command.number("--no-repeat-ngram", sampling.no_repeat_ngram, {0, max_tokens_of_a_text},
                 "no n-gram of this many tokens occurs twice; 0: off");
  command.number("--seed", options.seed, {0, std::numeric_limits<std::uint64_t>::max()},
                 "random seed");
}

void add_length_options(Command& command, GenerateOptions& options) {
  command.group("Length and constraints");
  command.number("--max-tokens", options.generation.max_tokens, {1, max_tokens_of_a_text},
                 "longest text, in tokens");
  command.repeatable("--stop", options.generation.stop, "end the text before this string");
  command.option("--prefix", options.generation.prefix, "start every text with this string");
  command.repeatable("--forbid", options.forbid, "forbid this word in the output");
  command.repeatable("--require", options.require, "require this word before the text ends");
}

}  // namespace

Command generate_command() {
  auto options = std::make_shared<GenerateOptions>();
  Command command("generate",
                  "Continue a prompt with a language model.\n"
                  "Without --prompt every line of standard input is a prompt; on a terminal, every "
                  "line that you type.",
                  "heed generate --model my-model --prompt 'ROMEO:' --max-tokens 300 --top-p 0.9");
  command.group(option_group::model);
  command.option("--model", options->model, "model folder")->required()->type_name("FOLDER");
  command.accept_weights(options->weights);
  command.group(option_group::input);
  command.option("--prompt", options->prompt, "the prompt");
  add_line_format(command, options->input_format);
  command.flag("--truncate", options->generation.truncate,
               "cut the beginning of prompts that are too long for the model");
  add_length_options(command, *options);
  add_sampling_options(command, options->generation);
  command.group(option_group::output);
  command.number("--n,--samples,--num-samples", options->generation.num_samples, {1, 1000},
                 "texts for each prompt");
  command.flag("--echo", options->echo, "print the prompt before its text");
  command.option("--separator", options->separator, "line between two texts");
  command.flag("--json", options->json,
               "print one JSON object per line: prompt, text, ending, tokens with "
               "log-probabilities, missing required words");
  command.accept_threads();
  command.run([options] {
    infer::validate(options->generation.sampling);
    const bool is_conversation = !options->prompt && ::isatty(STDIN_FILENO) != 0;
    return is_conversation ? converse(*options, std::cout)
                           : generate(*options, std::cin, std::cout);
  });
  return command;
}

}  // namespace heed::cli
