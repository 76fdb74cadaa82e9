// Text that goes on where a prompt ends, token by token.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/infer/constraints.h"
#include "heed/infer/sampling.h"
#include "heed/infer/top_tokens.h"
#include "heed/models/language_model.h"
#include "heed/text/tokenizer.h"

namespace heed::infer {

struct GenerationOptions {
  SamplingOptions sampling = {};
  std::uint64_t seed = 1;
  Index max_tokens = 256;
  Index num_samples = 1;               // texts for each prompt
  std::string prefix = {};             // every text begins with it
  std::vector<std::string> stop = {};  // a text ends before the first of these
  // A forbidden sequence is never completed, not even one that the prompt begins. A text does not
  // end, by its end token or a stop text, before it holds all required ones. As soon as the tokens
  // left are only as many as what is missing has, nothing else comes. Where a forbidden sequence
  // stands in the way of a required one, that one stays missing.
  Constraints constraints = {};
  bool truncate = false;   // cut the beginning of a prompt that is too long
  Index first_prompt = 1;  // the number of the first prompt: for messages and chance
  // Intervenes in the model's attention; null: the model as it is.
  const nn::AttentionHook* hook = nullptr;
};

enum class Ending { end_token, stop_text, length };
std::string_view to_string(Ending ending);  // "end", "stop", "length"

struct GeneratedText {
  std::string text;                // without the prompt
  std::vector<TokenScore> tokens;  // that were chosen, and what the model itself thought of them
  Ending ending = Ending::length;
  std::vector<std::string> missing = {};  // required words that it does not hold
};

// Minus infinity for the tokens that are no text: pad, unknown and begin. A writer never writes
// them.
void suppress_special_tokens(std::span<float> logits);

class TextGenerator {
 public:
  // Hears of text as soon as it is certain: never half a character, nothing of a stop text. The
  // number is that of the result, below.
  using OnText = std::function<void(std::size_t number, std::string_view part)>;

  static TextGenerator load(const std::string& folder);
  // Shares its values with the model, so it writes with the weights of the moment.
  TextGenerator(models::LanguageModel model, text::Tokenizer tokenizer);

  const models::LanguageModel& model() const { return model_; }
  const text::Tokenizer& tokenizer() const { return tokenizer_; }

  // num_samples texts for each prompt, those of one prompt side by side. A text's chance depends on
  // the seed, the number of its prompt and of its sample: whatever else is written beside it, it is
  // the same to the bit. An empty prompt is the end of a line.
  //
  // The model sees as much of the text as its context holds. When that is full, the older half is
  // forgotten. Refuses (ErrorKind::data) a prompt that is longer, unless it may be cut, and
  // (ErrorKind::usage) required words that need more than max_tokens or hold a stop text.
  std::vector<GeneratedText> generate(std::span<const std::string> prompts,
                                      const GenerationOptions& options,
                                      const OnText& on_text = {}) const;

 private:
  std::vector<int> prompt_ids(const std::string& prompt, Index number,
                              const GenerationOptions& options) const;

  models::LanguageModel model_;
  text::Tokenizer tokenizer_;
};

}  // namespace heed::infer
