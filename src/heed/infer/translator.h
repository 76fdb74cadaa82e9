// Translation: lines of text in one language to lines of text in another.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/weight_format.h"
#include "heed/infer/decoding.h"
#include "heed/metrics/word_alignment.h"
#include "heed/text/tokenizer.h"

namespace heed::models {
class TranslationModel;
struct GenerationConfig;
}  // namespace heed::models

namespace heed::infer {

using metrics::AlignedWords;

struct TranslationOptions {
  BeamSearchOptions search = {};
  // Target prefixes: none, one for all lines, or one for each line. A word at the end of a prefix
  // may be continued.
  std::span<const std::string> prefixes = {};
  bool truncate = false;  // cut lines of more than max_text_tokens
  bool with_alignment = false;
  // false: greedy search, which is faster without them, leaves out scores and tokens.
  bool with_scores = true;
  Index batch_tokens = 1024;  // source tokens in a batch
  Index first_line = 1;       // the number of the first line, for messages
};

struct TranslatedLine {
  std::string text;
  double score = 0;                // log-probability
  double normalised_score = 0;     // with length and coverage penalty
  std::vector<TokenScore> tokens;  // the end token is the last
  Index num_missing = 0;           // required words that it does not hold
  std::vector<AlignedWords> alignment;
};

// One line's translations, best first; a blank line has one, which is blank.
struct Translation {
  std::vector<TranslatedLine> best;
  const std::string& text() const { return best.front().text; }
};

// Copies share the model.
class Translator {
 public:
  // `weights`: the format to hold the weights in; not given: that of the folder.
  static Translator load(const std::string& folder,
                         std::optional<WeightFormat> weights = std::nullopt);
  // Shares its weights with the model: a later change of the model's weights changes translations.
  Translator(models::TranslationModel model, text::Tokenizer tokenizer);
  Translator(models::TranslationModel model, text::Tokenizer tokenizer,
             const models::GenerationConfig& generation);

  // The settings of generation_config.json.
  BeamSearchOptions default_search() const;
  const models::TranslationModel& model() const;
  const text::Tokenizer& tokenizer() const;

  // The best translation of one line, with the model's own search settings.
  std::string translate(std::string_view line) const;

  // The translations of each line, in their order. Refuses (ErrorKind::data) lines of more than
  // max_text_tokens, unless they may be truncated, and prefixes that are longer.
  std::vector<Translation> translate(std::span<const std::string> lines,
                                     const TranslationOptions& options) const;
  std::vector<Translation> translate(std::span<const std::string> lines) const;

 private:
  class Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace heed::infer
