#include "heed/cli/fill_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

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

void print(std::ostream& out, const infer::FilledLine& line, const FillOptions& options) {
  (options.json ? print_json : print_line)(out, line);
}

// Fills line after line of a chunk, whose first line has this number.
class ChunkFiller {
 public:
  ChunkFiller(const infer::FillMask& filler, const FillOptions& options, std::ostream& out,
              std::ostream& log)
      : filler_(filler), options_(options), out_(out), log_(log) {}

  void fill(std::span<const std::string> lines, Index first_line) {
    const auto has_mask = [&](const std::string& line) {
      return filler_.has_mask(line, options_.mask);
    };
    while (!lines.empty()) {
      const auto end = std::ranges::find_if_not(lines, has_mask);
      const auto with_mask = static_cast<std::size_t>(end - lines.begin());
      fill_masks(lines.first(with_mask), first_line);
      const std::size_t done = std::min(with_mask + 1, lines.size());
      if (done > with_mask) leave_empty(first_line + static_cast<Index>(with_mask));
      lines = lines.subspan(done);
      first_line += static_cast<Index>(done);
    }
  }

  bool has_left_any_empty() const { return has_left_any_empty_; }

 private:
  void fill_masks(std::span<const std::string> lines, Index first_line) {
    if (lines.empty()) return;
    const infer::LineOptions line_options{.batch_tokens = options_.batch_tokens,
                                          .first_line = first_line};
    for (const auto& line : filler_.fill(lines, options_.mask, options_.top, line_options)) {
      print(out_, line, options_);
    }
  }

  void leave_empty(Index line) {
    print(out_, {}, options_);
    log_ << fmt::format("warning: line {}: expected the mask token {}, found none\n", line,
                        options_.mask);
    has_left_any_empty_ = true;
  }

  const infer::FillMask& filler_;
  const FillOptions& options_;
  std::ostream &out_, &log_;
  bool has_left_any_empty_ = false;
};

}  // namespace

int fill(const FillOptions& options, std::istream& in, std::ostream& out, std::ostream& log) {
  check_as(ErrorKind::usage, !options.mask.empty(), "`mask_token`: expected some text, found none");
  const auto model = infer::FillMask::load(options.model, options.weights);
  ChunkFiller filler(model, options, out, log);
  over_chunks(in, out, options.input_format,
              [&](const std::vector<std::string>& lines, Index first_line) {
                filler.fill(lines, first_line);
              });
  return filler.has_left_any_empty() ? exit_code(ErrorKind::data) : 0;
}

Command fill_command() {
  auto options = std::make_shared<FillOptions>();
  Command command("fill", "Fill masks: predict the masked words of every line of standard input.",
                  "echo 'The cat sat on the <mask>.' | heed fill --model my-masked-model");
  command.group(option_group::model);
  command.option("--model", options->model, "model folder")->required()->type_name("FOLDER");
  command.accept_weights(options->weights);
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
  command.run([options] { return fill(*options, std::cin, std::cout, std::cerr); });
  return command;
}

}  // namespace heed::cli
