// Text generation: continues a prompt, token by token.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/weight_format.h"
#include "heed/infer/decoding.h"
#include "heed/text/tokenizer.h"

namespace heed::models {
class LanguageModel;
}

namespace heed::infer {

struct GenerationOptions {
  SamplingOptions sampling = {};
  std::uint64_t seed = 1;
  Index max_tokens = 256;
  Index num_samples = 1;               // texts for each prompt
  std::string prefix = {};             // every text starts with it
  std::vector<std::string> stop = {};  // a text ends before the first of these
  // A forbidden sequence is never completed, not even one that starts in the prompt. A text does
  // not end, by its end token or a stop text, before it holds all required ones. When only as many
  // tokens are left as the missing sequences need, only these are generated. Where a forbidden
  // sequence stands in the way of a required one, that one stays missing.
  Constraints constraints = {};
  bool truncate = false;   // cut the beginning of a prompt that is too long
  Index first_prompt = 1;  // the number of the first prompt: for messages and random numbers
  // Intervenes in the model's attention; null: the model as it is.
  const nn::AttentionHook* hook = nullptr;
};

enum class Ending { end_token, stop_text, length };
std::string_view to_string(Ending ending);  // "end", "stop", "length"

struct GeneratedText {
  std::string text;                // without the prompt
  std::vector<TokenScore> tokens;  // the chosen ones, with the model's own log-probabilities
  Ending ending = Ending::length;
  std::vector<std::string> missing = {};  // required words that it does not hold
};

// Copies share the model.
class TextGenerator {
 public:
  // Gets text as soon as it is final: never half a character, nothing of a stop text. `number` is
  // that of the result, below.
  using OnText = std::function<void(std::size_t number, std::string_view part)>;

  // `weights`: the format to hold the weights in; not given: that of the folder.
  static TextGenerator load(const std::string& folder,
                            std::optional<WeightFormat> weights = std::nullopt);
  // Shares its weights with the model: a later change of the model's weights changes texts.
  TextGenerator(models::LanguageModel model, text::Tokenizer tokenizer);

  const models::LanguageModel& model() const { return *model_; }
  const text::Tokenizer& tokenizer() const { return tokenizer_; }

  // The continuation of one prompt, without the prompt. `on_text` hears of it as it is generated.
  // Refuses (ErrorKind::usage) more than one sample.
  std::string generate(std::string_view prompt, const GenerationOptions& options = {},
                       const std::function<void(std::string_view part)>& on_text = {}) const;

  // num_samples texts for each prompt, those of one prompt one after another. A text's random
  // numbers depend on the seed, the number of its prompt and of its sample: it is the same to the
  // bit whatever else is in the batch. An empty prompt is the end of a line.
  //
  // When the model's context is full, its older half is dropped. Refuses (ErrorKind::data) a prompt
  // that is longer than the context, unless it may be truncated, and (ErrorKind::usage) required
  // words that need more than max_tokens or hold a stop text.
  std::vector<GeneratedText> generate(std::span<const std::string> prompts,
                                      const GenerationOptions& options,
                                      const OnText& on_text = {}) const;

 private:
  std::shared_ptr<const models::LanguageModel> model_;
  text::Tokenizer tokenizer_;
};

}  // namespace heed::infer
