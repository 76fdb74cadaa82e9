#include "heed/cli/generate_command.h"

#include <unistd.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "heed/cli/line_chunks.h"
#include "heed/cli/line_editor.h"

namespace heed::cli {
namespace {

using nlohmann::ordered_json;

// Prompts that are written on together.
constexpr std::size_t prompts_per_batch = 16;

// Puts texts that are written side by side one after the other: that of the first which is not
// whole comes out at once, the others wait.
class TextsInOrder {
 public:
  TextsInOrder(std::ostream& out, const GenerateOptions& options,
               std::span<const std::string> prompts, bool is_first)
      : out_(out), options_(options), prompts_(prompts), is_first_(is_first) {
    begin_text();
  }

  void add(std::size_t number, std::string_view part) {
    if (number == number_) {
      out_ << part << std::flush;
    } else {
      waiting_.resize(std::max(waiting_.size(), number + 1));
      waiting_[number] += part;
    }
  }

  // All texts are whole.
  void finish(std::size_t num_texts) {
    while (true) {
      out_ << std::endl;
      if (++number_ == num_texts) return;
      begin_text();
      if (number_ < waiting_.size()) out_ << waiting_[number_];
    }
  }

 private:
  void begin_text() {
    if (!std::exchange(is_first_, false)) out_ << options_.separator << '\n';
    if (options_.echo) out_ << prompts_[number_ / options_.writing.num_samples];
  }

  std::ostream& out_;
  const GenerateOptions& options_;
  std::span<const std::string> prompts_;
  bool is_first_;
  std::size_t number_ = 0;  // of the text that comes out now
  std::vector<std::string> waiting_;
};

void print_json(std::ostream& out, const std::string& prompt, const infer::GeneratedText& written,
                const text::Tokenizer& tokenizer, const GenerateOptions& options) {
  ordered_json tokens = ordered_json::array();
  for (const infer::TokenScore& token : written.tokens) {
    tokens.push_back({{"id", token.token},
                      {"piece", tokenizer.piece(token.token)},
                      {"log_probability", token.log_probability}});
  }
  ordered_json line{{"prompt", prompt},
                    {"text", written.text},
                    {"ending", infer::to_string(written.ending)},
                    {"tokens", tokens}};
  if (!options.require.empty()) line["missing"] = written.missing;
  out << line.dump(-1, ' ', false, ordered_json::error_handler_t::replace) << std::endl;
}

void write_batch(const infer::TextGenerator& writer, std::span<const std::string> prompts,
                 const GenerateOptions& options, std::ostream& out) {
  if (options.json) {
    const auto texts = writer.generate(prompts, options.writing);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      print_json(out, prompts[i / options.writing.num_samples], texts[i], writer.tokenizer(),
                 options);
    }
    return;
  }
  TextsInOrder texts(out, options, prompts, options.writing.first_prompt == 1);
  const auto add = [&](std::size_t number, std::string_view part) { texts.add(number, part); };
  texts.finish(writer.generate(prompts, options.writing, add).size());
}

// The options with what they forbid and require in the model's tokens.
GenerateOptions constrained(GenerateOptions options, const text::Tokenizer& tokenizer) {
  options.writing.constraints =
      infer::Constraints::of_words(options.forbid, options.require, tokenizer);
  return options;
}

}  // namespace

int generate(const GenerateOptions& options, std::istream& in, std::ostream& out) {
  const auto writer = infer::TextGenerator::load(options.model);
  GenerateOptions batch = constrained(options, writer.tokenizer());
  if (options.prompt) {
    write_batch(writer, std::span(&*options.prompt, 1), batch, out);
    return 0;
  }
  LineChunks input(in, "standard input");
  for (auto prompts = input.next(prompts_per_batch); !prompts.empty();
       prompts = input.next(prompts_per_batch)) {
    write_batch(writer, prompts, batch, out);
    batch.writing.first_prompt += static_cast<Index>(prompts.size());
  }
  return 0;
}

int converse(const GenerateOptions& options, std::ostream& out) {
  const auto writer = infer::TextGenerator::load(options.model);
  LineEditor lines("> ");
  GenerateOptions one = constrained(options, writer.tokenizer());
  one.separator = "";
  while (const std::optional<std::string> line = lines.next()) {
    try {
      write_batch(writer, std::span(&*line, 1), one, out);
      ++one.writing.first_prompt;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::data) throw;
      std::cerr << "heed: " << error.what() << std::endl;  // the next line may do better
    }
  }
  out << std::endl;
  return 0;
}

namespace {

void add_sampling_options(Command& command, infer::SamplingOptions& sampling) {
  command.option("--temperature", sampling.temperature,
                 "below 1: more of what is likely; 0: always the most likely");
  command.option("--top-k", sampling.top_k, "only the K most likely tokens; 0: all");
  command.option("--top-p", sampling.top_p,
                 "only the most likely tokens that together reach this probability");
  command.option("--min-p", sampling.min_p,
                 "only tokens with at least this share of the most likely one's probability");
  command.option("--repetition-penalty", sampling.repetition_penalty,
                 "above 1: what has been there becomes less likely");
  command.option("--no-repeat-ngram", sampling.no_repeat_ngram,
                 "no run of so many tokens comes twice; 0: any may");
}

void add_generation_options(Command& command, infer::GenerationOptions& writing) {
  add_sampling_options(command, writing.sampling);
  command.option("--seed", writing.seed, "of chance: the same seed, the same text");
  command.option("--max-tokens", writing.max_tokens, "longest text, in tokens")
      ->check(CLI::PositiveNumber);
  command.app()
      ->add_option("--stop", writing.stop, "end the text before this; may be said again")
      ->allow_extra_args(false);
  command.option("--n,--samples", writing.num_samples, "texts for each prompt")
      ->check(CLI::Range(1, 1000));
  command.option("--prefix", writing.prefix, "what every text must begin with");
  command.flag("--truncate", writing.truncate, "cut the beginning of prompts that are too long");
}

}  // namespace

Command generate_command() {
  auto options = std::make_shared<GenerateOptions>();
  Command command("generate", "Write on from a prompt, or from every line of standard input.",
                  "heed generate --model my-model --prompt 'ROMEO:' --max-tokens 300 --top-p 0.9");
  CLI::App& app = *command.app();
  command.option("--model", options->model, "model folder")->required();
  app.add_option("--prompt", options->prompt, "the text to go on from");
  add_generation_options(command, options->writing);
  app.add_option("--forbid", options->forbid, "a word that may not come out; may be said again")
      ->allow_extra_args(false);
  app.add_option("--require", options->require,
                 "a word that must come out before the text ends, and is forced in when there is "
                 "just room for it; may be said again")
      ->allow_extra_args(false);
  command.flag("--echo", options->echo, "print the prompt before its text");
  command.option("--separator", options->separator, "the line between two texts");
  command.flag("--json", options->json,
               "an object a line: prompt, text, ending, tokens with log-probabilities, required "
               "words that are missing");
  command.accept_threads();
  command.run([options] {
    infer::validate(options->writing.sampling);
    const bool is_conversation = !options->prompt && ::isatty(STDIN_FILENO) != 0;
    return is_conversation ? converse(*options, std::cout)
                           : generate(*options, std::cin, std::cout);
  });
  return command;
}

}  // namespace heed::cli
