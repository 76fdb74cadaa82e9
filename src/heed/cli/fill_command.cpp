#include "heed/cli/fill_command.h"

#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/cli/one_line.h"
#include "heed/infer/fill_mask.h"

namespace heed::cli {
namespace {

using nlohmann::ordered_json;

// word TAB probability [TAB word TAB probability ...] [||| those of the next mask]
void print_line(std::ostream& out, const infer::FilledLine& line) {
  const char* between_masks = "";
  for (const std::vector<infer::MaskCandidate>& mask : line) {
    out << std::exchange(between_masks, " ||| ");
    const char* between = "";
    for (const infer::MaskCandidate& word : mask) {
      out << std::exchange(between, "\t")
          << fmt::format("{}\t{:.4f}", on_one_line(word.word), word.probability);
    }
  }
  out << '\n';
}

void print_json(std::ostream& out, const infer::FilledLine& line) {
  ordered_json masks = ordered_json::array();
  for (const std::vector<infer::MaskCandidate>& mask : line) {
    ordered_json words = ordered_json::array();
    for (const infer::MaskCandidate& word : mask) {
      words.push_back({{"word", word.word}, {"probability", word.probability}});
    }
    masks.push_back(words);
  }
  const ordered_json object{{"gaps", masks}};
  out << object.dump(-1, ' ', false, ordered_json::error_handler_t::replace) << '\n';
}

}  // namespace

int fill(const FillOptions& options, std::istream& in, std::ostream& out) {
  check_as(ErrorKind::usage, !options.mask.empty(), "`mask_token`: expected some text, found none");
  const auto filler = infer::FillMask::load(options.model);
  over_chunks(in, out, options.input_format,
              [&](const std::vector<std::string>& lines, Index first_line) {
                const auto filled =
                    filler.fill(lines, options.mask, options.top,
                                {.batch_tokens = options.batch_tokens, .first_line = first_line});
                for (const infer::FilledLine& line : filled) {
                  (options.json ? print_json : print_line)(out, line);
                }
              });
  return 0;
}

Command fill_command() {
  auto options = std::make_shared<FillOptions>();
  Command command("fill", "Fill masks: predict the masked words of every line of standard input.",
                  "echo 'The cat sat on the <mask>.' | heed fill --model my-masked-model");
  command.group(option_group::model);
  command.option("--model", options->model, "model folder")->required()->type_name("FOLDER");
  command.group(option_group::input);
  add_line_format(command, options->input_format);
  command.option("--mask-token,--gap", options->mask, "notation of the mask in the input");
  command.group(option_group::output);
  command.number("--top,--top-k", options->top, {1, max_top},
                 "print the K most likely words for each mask");
  command.flag("--json", options->json,
               "print one JSON object per line: words with their probabilities");
  command.accept_batch_tokens(options->batch_tokens, "tokens in a batch");
  command.accept_threads();
  command.run([options] { return fill(*options, std::cin, std::cout); });
  return command;
}

}  // namespace heed::cli
