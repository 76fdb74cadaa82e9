// Translation: lines of text in one language to lines of text in another.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/infer/alignment.h"
#include "heed/infer/beam_search.h"
#include "heed/models/model_folder.h"
#include "heed/models/translation_model.h"

namespace heed::infer {

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

class Translator {
 public:
  static Translator load(const std::string& folder);
  // Shares its weights with the model: a later change of the model's weights changes translations.
  Translator(models::TranslationModel model, text::Tokenizer tokenizer,
             models::GenerationConfig generation = {});

  // The settings of generation_config.json.
  BeamSearchOptions default_search() const;
  const models::TranslationModel& model() const { return model_; }
  const text::Tokenizer& tokenizer() const { return tokenizer_; }

  // The best translation of one line, with the model's own search settings.
  std::string translate(std::string_view line) const;

  // The translations of each line, in their order. Refuses (ErrorKind::data) lines of more than
  // max_text_tokens, unless they may be truncated, and prefixes that are longer.
  std::vector<Translation> translate(std::span<const std::string> lines,
                                     const TranslationOptions& options) const;
  std::vector<Translation> translate(std::span<const std::string> lines) const;

 private:
  struct Source {
    std::size_t line;
    std::vector<int> ids;     // without the end token
    std::vector<int> prefix;  // of the translation
  };

  std::vector<Source> tokenized(std::span<const std::string> lines,
                                const TranslationOptions& options) const;
  std::vector<int> prefix_of(std::size_t line, const TranslationOptions& options) const;
  void translate_batch(const models::TranslationModel& model, std::span<const Source> batch,
                       const TranslationOptions& options,
                       const std::optional<ops::ArgmaxProjection>& projection,
                       std::span<Translation> translations) const;
  void align(const models::TranslationModel& model, std::span<const Source> batch,
             const TranslationOptions& options, std::span<const std::vector<Hypothesis>> hypotheses,
             std::span<Translation> translations) const;

  // For greedy search without scores; nothing for any other.
  std::optional<ops::ArgmaxProjection> projection_for(const TranslationOptions& options) const;

  // The projection of a packed model, whose weights do not change: made once, when first needed.
  struct CachedProjection {
    std::once_flag is_made;
    std::optional<ops::ArgmaxProjection> projection;
  };

  models::TranslationModel model_;
  text::Tokenizer tokenizer_;
  models::GenerationConfig generation_;
  std::shared_ptr<CachedProjection> cached_ = std::make_shared<CachedProjection>();
};

}  // namespace heed::infer
