// heed generate: continues prompts with a language model.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "heed/cli/command.h"
#include "heed/cli/line_chunks.h"
#include "heed/infer/text_generator.h"

namespace heed::cli {

// What is typed wins over the model's own settings.
struct DecodingChoices {
  std::optional<double> temperature = {};
  std::optional<Index> top_k = {};
  std::optional<double> top_p = {};
  std::optional<double> min_p = {};
  std::optional<double> repetition_penalty = {};
  std::optional<Index> no_repeat_ngram = {};
  std::optional<Index> min_tokens = {};
  std::optional<Index> max_tokens = {};
  std::optional<Index> num_samples = {};
  std::optional<Index> beam_size = {};
  std::optional<double> length_penalty = {};
  std::optional<std::string> early_stopping = {};
};

struct GenerateOptions {
  std::string model = {};
  std::optional<WeightFormat> weights = {};  // nothing: that of the folder
  LineFormat input_format = LineFormat::text;
  std::optional<std::string> prompt = {};  // otherwise every line of the input is one
  DecodingChoices decoding = {};
  // The model's own settings, the choices above and the words below come on top of it.
  infer::GenerationOptions generation = {};
  std::vector<std::string> forbid = {};    // forbidden words
  std::vector<std::string> require = {};   // required words
  bool echo = false;                       // the prompt before its text
  std::string separator = "---";           // the line between two texts
  bool json = false;                       // one JSON object per line instead
  bool chat = false;                       // prompts are messages of a chat
  std::optional<std::string> system = {};  // the first message of a chat
};

// Texts go to `out` as they are generated: the first one token by token, the others of its batch
// after it. They keep their line ends and tabs; other control characters are escaped
// (on_several_lines).
int generate(const GenerateOptions& options, std::istream& in, std::ostream& out);

// The same for lines that a person types, until there are no more. A chat keeps what was said,
// until the line /reset.
int converse(const GenerateOptions& options, std::ostream& out);
int converse(const GenerateOptions& options,
             const std::function<std::optional<std::string>()>& next_line, std::ostream& out);

// The settings of the model's generation_config.json, with what is typed in their place. Choices of
// sampling have a model sample that would not; --beam-size has one search that would sample.
infer::GenerationOptions decoding_options(const GenerateOptions& options,
                                          const infer::TextGenerator& generator);

Command generate_command();

}  // namespace heed::cli
