#include "heed/cli/generate_command.h"

#include <unistd.h>

#include <iostream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "heed/cli/chat_prompts.h"
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

std::vector<infer::GeneratedText> generate_batch(const infer::TextGenerator& generator,
                                                 std::span<const std::string> prompts,
                                                 const GenerateOptions& options,
                                                 std::ostream& out) {
  if (options.json) {
    auto texts = generator.generate(prompts, options.generation);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      print_json(out, prompts[i / options.generation.num_samples], texts[i], generator.tokenizer(),
                 options);
    }
    return texts;
  }
  TextsInOrder in_order(out, options, prompts, options.generation.first_prompt == 1);
  const auto add = [&](std::size_t number, std::string_view part) { in_order.add(number, part); };
  auto texts = generator.generate(prompts, options.generation, add);
  in_order.finish(texts.size());
  return texts;
}

constexpr char input_name[] = "standard input";

std::optional<ChatPrompts> chat_prompts(const GenerateOptions& options) {
  check_as(ErrorKind::usage, options.chat || !options.system,
           "`system`: expected the option --chat beside it, found none");
  if (!options.chat) return std::nullopt;
  return ChatPrompts(options.model, options.system);
}

// Of a chat the JSON of a line may be more than a string: its own reader knows.
LineFormat line_format(const GenerateOptions& options) {
  return options.chat ? LineFormat::text : options.input_format;
}

// Lines as prompts; `first` is the number of the first line.
std::vector<std::string> to_prompts(const std::optional<ChatPrompts>& chat,
                                    std::vector<std::string> lines, Index first,
                                    LineFormat format) {
  if (!chat) return lines;
  for (std::string& line : lines) {
    const std::string place = std::string(input_name) + ":" + std::to_string(first++);
    line = format == LineFormat::json ? chat->of_json(line, place) : chat->of_message(line);
  }
  return lines;
}

// The options with the forbidden and required words as tokens.
GenerateOptions with_constraints(GenerateOptions options, const text::Tokenizer& tokenizer) {
  options.generation.constraints =
      infer::Constraints::of_words(options.forbid, options.require, tokenizer);
  return options;
}

}  // namespace

int generate(const GenerateOptions& options, std::istream& in, std::ostream& out) {
  const auto generator = infer::TextGenerator::load(options.model);
  GenerateOptions batch = with_constraints(options, generator.tokenizer());
  const std::optional<ChatPrompts> chat = chat_prompts(options);
  if (options.prompt) {
    generate_batch(generator, to_prompts(chat, {*options.prompt}, 1, LineFormat::text), batch, out);
    return 0;
  }
  LineChunks input(in, input_name, line_format(options));
  for (auto lines = input.next(prompts_per_batch); !lines.empty();
       lines = input.next(prompts_per_batch)) {
    const Index first = input.num_lines() - std::ssize(lines) + 1;
    const auto prompts = to_prompts(chat, std::move(lines), first, options.input_format);
    generate_batch(generator, prompts, batch, out);
    batch.generation.first_prompt += std::ssize(prompts);
  }
  return 0;
}

int converse(const GenerateOptions& options, std::ostream& out) {
  LineEditor lines("> ");
  return converse(
      options, [&lines] { return lines.next(); }, out);
}

namespace {

// A line that a person typed: a prompt, or a message of the chat.
void answer_line(const infer::TextGenerator& generator, const std::string& line,
                 std::optional<Conversation>& chat, const GenerateOptions& options,
                 std::ostream& out) {
  const std::string prompt = chat ? chat->prompt(line) : line;
  const auto texts = generate_batch(generator, std::span(&prompt, 1), options, out);
  if (chat) chat->add(line, texts.front().text);
}

std::optional<Conversation> start_chat(const GenerateOptions& options) {
  std::optional<ChatPrompts> prompts = chat_prompts(options);
  if (!prompts) return std::nullopt;
  return Conversation(std::move(*prompts));
}

// /reset begins a new chat, and an empty line says nothing.
bool is_message(const std::string& line, std::optional<Conversation>& chat) {
  if (!chat) return true;
  if (line == "/reset") chat->reset();
  return !line.empty() && line != "/reset";
}

}  // namespace

int converse(const GenerateOptions& options,
             const std::function<std::optional<std::string>()>& next_line, std::ostream& out) {
  const auto generator = infer::TextGenerator::load(options.model);
  GenerateOptions one = with_constraints(options, generator.tokenizer());
  one.separator = "";
  std::optional<Conversation> chat = start_chat(options);
  check_as(ErrorKind::usage, !chat || one.generation.num_samples == 1,
           "`num_samples`: expected 1 in a chat on a terminal, found ", one.generation.num_samples);
  while (const std::optional<std::string> line = next_line()) {
    if (!is_message(*line, chat)) continue;
    try {
      answer_line(generator, *line, chat, one, out);
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
  command.group(option_group::input);
  command.option("--prompt", options->prompt, "the prompt");
  add_line_format(command, options->input_format);
  command.flag("--chat", options->chat,
               "prompts are messages of a user: the folder's chat template makes the prompt, and "
               "lines with --json-input may be lists of messages");
  command.option("--system", options->system, "the first message of a chat");
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
