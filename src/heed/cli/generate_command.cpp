#include "heed/cli/generate_command.h"

#include <unistd.h>

#include <iostream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "heed/cli/chat_prompts.h"
#include "heed/cli/line_editor.h"
#include "heed/cli/one_line.h"
#include "heed/infer/generation_options.h"

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

bool has_sampling(const DecodingChoices& typed) {
  return typed.temperature.value_or(0) > 0 || typed.top_k || typed.top_p || typed.min_p;
}

// Greedy for a model that does not sample by itself, unless a choice of sampling is typed.
void choose_sampling(const DecodingChoices& typed, const models::GenerationConfig& model,
                     infer::SamplingOptions& sampling) {
  if (has_sampling(typed)) sampling = infer::sampling_options(model);
  sampling.temperature = typed.temperature.value_or(sampling.temperature);
  sampling.top_k = typed.top_k.value_or(sampling.top_k);
  sampling.top_p = typed.top_p.value_or(sampling.top_p);
  sampling.min_p = typed.min_p.value_or(sampling.min_p);
  sampling.repetition_penalty = typed.repetition_penalty.value_or(sampling.repetition_penalty);
  sampling.no_repeat_ngram = typed.no_repeat_ngram.value_or(sampling.no_repeat_ngram);
}

void choose_search(const DecodingChoices& typed, infer::GenerationOptions& options) {
  check_as(ErrorKind::usage, !has_sampling(typed) || typed.beam_size.value_or(1) == 1,
           "generate: expected --beam-size or options of sampling, found both");
  options.beam_size = has_sampling(typed) ? 1 : typed.beam_size.value_or(options.beam_size);
  if (options.beam_size > 1) options.sampling = as_greedy(options.sampling);
  options.length_penalty = typed.length_penalty.value_or(options.length_penalty);
  if (typed.early_stopping) {
    options.early_stopping =
        parse_choice<models::EarlyStopping>(*typed.early_stopping, "--early-stopping");
  }
  options.num_samples = typed.num_samples.value_or(options.num_samples);
}

void choose_lengths(const DecodingChoices& typed, infer::GenerationOptions& options) {
  if (typed.max_tokens) {
    options.max_tokens = *typed.max_tokens;
    options.max_length = 0;
  }
  if (!typed.min_tokens) return;
  options.token_rules.min_new_tokens = *typed.min_tokens;
  options.token_rules.min_length = 0;
}

// The options with all that the model and the words decide.
GenerateOptions complete(GenerateOptions options, const infer::TextGenerator& generator) {
  options.generation = decoding_options(options, generator);
  return options;
}

}  // namespace

infer::GenerationOptions decoding_options(const GenerateOptions& options,
                                          const infer::TextGenerator& generator) {
  infer::GenerationOptions decoding = generator.default_options();
  choose_sampling(options.decoding, generator.generation(), decoding.sampling);
  choose_search(options.decoding, decoding);
  choose_lengths(options.decoding, decoding);
  decoding.seed = options.generation.seed;
  decoding.prefix = options.generation.prefix;
  decoding.stop = options.generation.stop;
  decoding.prepends_begin = !options.chat;
  decoding.truncate = options.generation.truncate;
  decoding.first_prompt = options.generation.first_prompt;
  decoding.hook = options.generation.hook;
  decoding.constraints =
      infer::Constraints::of_words(options.forbid, options.require, generator.tokenizer());
  return decoding;
}

int generate(const GenerateOptions& options, std::istream& in, std::ostream& out) {
  const auto generator = infer::TextGenerator::load(options.model, options.weights);
  GenerateOptions batch = complete(options, generator);
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
  const auto generator = infer::TextGenerator::load(options.model, options.weights);
  GenerateOptions one = complete(options, generator);
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

void add_sampling_options(Command& command, GenerateOptions& options) {
  DecodingChoices& decoding = options.decoding;
  command.group("Sampling (default: the model's own settings)");
  command.number("--temperature", decoding.temperature, {0, 1000},
                 "softmax temperature; below 1: more likely tokens, 0: greedy (otherwise 1)");
  command.number("--top-k", decoding.top_k, {0, max_top},
                 "sample from the K most likely tokens; 0: all (otherwise 0)");
  command.number("--top-p", decoding.top_p, {0, 1},
                 "nucleus sampling: the most likely tokens that sum to this probability "
                 "(otherwise 1)");
  command.number("--min-p", decoding.min_p, {0, 1},
                 "drop tokens below this share of the most likely token's probability "
                 "(otherwise 0)");
  command.number("--repetition-penalty", decoding.repetition_penalty, {0, 1000},
                 "above 1: tokens of the text so far become less likely (otherwise 1)");
  command.number("--no-repeat-ngram", decoding.no_repeat_ngram, {0, max_tokens_of_a_text},
                 "no n-gram of this many tokens occurs twice; 0: off (otherwise 0)");
  command.number("--seed", options.generation.seed, {0, std::numeric_limits<std::uint64_t>::max()},
                 "random seed");
}

void add_search_options(Command& command, DecodingChoices& decoding) {
  command.group(option_group::search);
  command.number("--beam,--beam-size", decoding.beam_size, {1, models::max_beam_size},
                 "above 1: beam search in place of sampling (default: the model's own, otherwise "
                 "1)");
  command.number("--length-penalty", decoding.length_penalty,
                 {-models::max_length_penalty, models::max_length_penalty},
                 "rank by score / length^PENALTY (default: the model's own, otherwise 1)");
  command
      .option("--early-stopping", decoding.early_stopping,
              "when a full beam stops: yes, at once; no, when the best would lose if it ended now; "
              "never, when it would lose at any length (default: the model's own, otherwise no)")
      ->check(is_choice<models::EarlyStopping>());
}

void add_length_options(Command& command, GenerateOptions& options) {
  command.group("Length and constraints");
  command.number("--max-tokens", options.decoding.max_tokens, {1, max_tokens_of_a_text},
                 "longest text, in tokens (default: the model's own, otherwise 256)");
  command.number("--min-tokens", options.decoding.min_tokens, {0, max_tokens_of_a_text},
                 "shortest text, in tokens: no end token before (default: the model's own, "
                 "otherwise 0)");
  command.repeatable("--stop", options.generation.stop, "end the text before this string");
  command.option("--prefix", options.generation.prefix, "start every text with this string");
  command.repeatable("--forbid", options.forbid, "forbid this word in the output");
  command.repeatable("--require", options.require, "require this word before the text ends");
}

// Refuses what no model's settings can make right.
void check_sampling(const DecodingChoices& typed) {
  infer::SamplingOptions sampling;
  choose_sampling(typed, {}, sampling);
  infer::validate(sampling);
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
  command.flag("--chat", options->chat,
               "prompts are messages of a user: the folder's chat template makes the prompt, and "
               "lines with --json-input may be lists of messages");
  command.option("--system", options->system, "the first message of a chat");
  command.flag("--truncate", options->generation.truncate,
               "cut the beginning of prompts that are too long for the model");
  add_length_options(command, *options);
  add_sampling_options(command, *options);
  add_search_options(command, options->decoding);
  command.group(option_group::output);
  command.number("--n,--samples,--num-samples", options->decoding.num_samples, {1, 1000},
                 "texts for each prompt (default: the model's own, otherwise 1)");
  command.flag("--echo", options->echo, "print the prompt before its text");
  command.option("--separator", options->separator, "line between two texts");
  command.flag("--json", options->json,
               "print one JSON object per line: prompt, text, ending, tokens with "
               "log-probabilities, missing required words");
  command.accept_threads();
  command.run([options] {
    check_sampling(options->decoding);
    const bool is_conversation = !options->prompt && ::isatty(STDIN_FILENO) != 0;
    return is_conversation ? converse(*options, std::cout)
                           : generate(*options, std::cin, std::cout);
  });
  return command;
}

}  // namespace heed::cli
