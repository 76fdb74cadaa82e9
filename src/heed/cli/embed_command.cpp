#include "heed/cli/embed_command.h"

#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "heed/infer/sentence_encoder.h"
#include "heed/io/npy.h"

namespace heed::cli {
namespace {

void print_rows(std::ostream& out, const Tensor& vectors) {
  for (Index row = 0; row < vectors.dim(0); ++row) {
    const auto values = vectors.values().subspan(row * vectors.dim(1), vectors.dim(1));
    out << fmt::format("{{\"vector\":[{}]}}\n", fmt::join(values, ","));
  }
}

}  // namespace

int embed(const EmbedOptions& options, std::istream& in, std::ostream& out) {
  auto encoder = infer::SentenceEncoder::load(options.model, options.weights);
  if (options.prompt_name) encoder.use_prompt(*options.prompt_name);
  std::vector<float> all;
  over_chunks(
      in, out, options.input_format, [&](const std::vector<std::string>& lines, Index first_line) {
        const Tensor vectors =
            encoder.encode(lines, {.batch_tokens = options.batch_tokens, .first_line = first_line});
        if (options.npy.empty()) {
          print_rows(out, vectors);
        } else {
          all.insert(all.end(), vectors.values().begin(), vectors.values().end());
        }
      });
  if (!options.npy.empty()) {
    const auto dim = static_cast<std::size_t>(encoder.dim());
    io::write_npy(options.npy, all, all.size() / dim, dim);
  }
  return 0;
}

Command embed_command() {
  auto options = std::make_shared<EmbedOptions>();
  Command command("embed",
                  "Compute sentence embeddings: a vector for every line of standard input.\n"
                  "The pooled vector of a classifier, or the mean of the encoder's output of "
                  "other models.",
                  "heed embed --model my-classifier --npy vectors.npy < lines.txt");
  command.group(option_group::model);
  command.option("--model", options->model, "model folder")->required()->type_name("FOLDER");
  command.accept_weights(options->weights);
  add_line_format(command, options->input_format);
  command
      .option("--prompt-name", options->prompt_name,
              "put this prompt of the model before every text, such as query")
      ->type_name("NAME");
  command.group(option_group::output);
  command
      .option("--npy", options->npy,
              "write a NumPy array [lines, width] of 32-bit floats to this file, instead of one "
              "JSON object per line")
      ->type_name("FILE");
  command.accept_batch_tokens(options->batch_tokens, "tokens in a batch");
  command.accept_threads();
  command.run([options] { return embed(*options, std::cin, std::cout); });
  return command;
}

}  // namespace heed::cli
