#include "heed/cli/tokenize_command.h"

#include <charconv>
#include <iostream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/printable.h"
#include "heed/cli/one_line.h"
#include "heed/text/tokenizer.h"

namespace heed::cli {
namespace {

using nlohmann::ordered_json;

void print_line(std::ostream& out, const ordered_json& line) {
  out << line.dump(-1, ' ', false, ordered_json::error_handler_t::replace) << '\n';
}

template <typename Items, typename Print>
void print_items(std::ostream& out, const Items& items, Print&& print) {
  const char* between = "";
  for (const auto& item : items) {
    out << std::exchange(between, " ");
    print(item);
  }
  out << '\n';
}

// --- Text to tokens

ordered_json to_json(const text::Encoding& encoding) {
  ordered_json json{{"ids", encoding.ids}, {"tokens", encoding.tokens}};
  if (encoding.offsets.size() != encoding.size()) return json;
  ordered_json offsets = ordered_json::array();
  for (const text::Offsets& each : encoding.offsets) offsets.push_back({each.begin, each.end});
  json["offsets"] = std::move(offsets);
  json["type_ids"] = encoding.type_ids;
  json["attention_mask"] = encoding.attention_mask;
  return json;
}

void print_tokens(std::ostream& out, const text::Encoding& encoding,
                  const TokenizeOptions& options) {
  if (options.json) return print_line(out, to_json(encoding));
  if (options.ids) return print_items(out, encoding.ids, [&](int id) { out << id; });
  print_items(out, encoding.tokens, [&](const std::string& token) { out << on_one_line(token); });
}

// --- Ids to text

int parse_id(std::string_view word, Index line) {
  int id = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
  check_as(ErrorKind::data, error == std::errc() && end == word.data() + word.size(), "line ", line,
           ": expected ids, found ", excerpt(word));
  return id;
}

std::vector<int> parse_ids(std::string_view text, Index line) {
  std::vector<int> ids;
  while (true) {
    const std::size_t begin = text.find_first_not_of(" \t,");
    if (begin == text.npos) return ids;
    text.remove_prefix(begin);
    const std::string_view word = text.substr(0, text.find_first_of(" \t,"));
    ids.push_back(parse_id(word, line));
    text.remove_prefix(word.size());
  }
}

void check_ids(const std::vector<int>& ids, const text::Tokenizer& tokenizer, Index line) {
  for (const int id : ids) {
    check_as(ErrorKind::data, id >= 0 && id < tokenizer.size(), "line ", line,
             ": expected ids from 0 to ", tokenizer.size() - 1, ", found ", id);
  }
}

void print_text(std::ostream& out, const std::string& text, const TokenizeOptions& options) {
  if (options.json) return print_line(out, {{"text", text}});
  out << on_one_line(text) << '\n';
}

void process(const text::Tokenizer& tokenizer, const std::string& line, Index number,
             const TokenizeOptions& options, std::ostream& out) {
  if (!options.decode) {
    return print_tokens(out, tokenizer.encode(line, {.with_special = !options.no_special}),
                        options);
  }
  const std::vector<int> ids = parse_ids(line, number);
  check_ids(ids, tokenizer, number);
  print_text(out, tokenizer.decode(ids, {.skip_special = options.skip_special}), options);
}

}  // namespace

int tokenize(const TokenizeOptions& options, std::istream& in, std::ostream& out) {
  const auto tokenizer = text::Tokenizer::load_any(options.model);
  over_chunks(in, out, options.input_format,
              [&](const std::vector<std::string>& lines, Index first_line) {
                Index number = first_line;
                for (const std::string& line : lines) {
                  process(tokenizer, line, number++, options, out);
                }
              });
  return 0;
}

Command tokenize_command() {
  auto options = std::make_shared<TokenizeOptions>();
  Command command("tokenize",
                  "Tokenize every line of standard input, or decode ids.\n"
                  "Reads the tokenizer files of any model: Heed's own, those of Hugging Face, with "
                  "the same tokens and offsets, and Marian's.",
                  "echo 'A bat hangs.' | heed tokenize --model my-model --json");
  command.group(option_group::model);
  command
      .option("--model", options->model,
              "model folder, or a file tokenizer.json or tokenizer.model")
      ->required()
      ->type_name("FOLDER");
  command.group(option_group::input);
  add_line_format(command, options->input_format);
  CLI::Option* decode =
      command.flag("--decode", options->decode, "read ids, separated by spaces, and print text");
  CLI::Option* no_special = command.flag("--no-special", options->no_special,
                                         "leave out the special tokens that the tokenizer.json "
                                         "adds to a text");
  command.group(option_group::output);
  CLI::Option* ids = command.flag("--ids", options->ids, "print ids, not tokens");
  command.flag("--json", options->json,
               "print one JSON object per line: ids, tokens and, of a tokenizer.json, offsets "
               "(code points of the line), type_ids and attention_mask; for --decode, text");
  command
      .flag("--skip-special", options->skip_special, "leave special tokens out of the decoded text")
      ->needs(decode);
  ids->excludes(decode);
  no_special->excludes(decode);
  command.run([options] { return tokenize(*options, std::cin, std::cout); });
  return command;
}

}  // namespace heed::cli
