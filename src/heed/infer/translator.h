// Lines of text in one language to lines of text in another.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/infer/alignment.h"
#include "heed/infer/beam_search.h"
#include "heed/models/model_folder.h"
#include "heed/models/translation_model.h"

namespace heed::infer {

struct TranslationOptions {
  BeamSearchOptions search = {};
  // What translations begin with: nothing, one prefix for all lines, or one for each line. A word
  // at a prefix's end may go on.
  std::span<const std::string> prefixes = {};
  bool truncate = false;  // cut the end of lines that are longer than the learned positions
  bool with_alignment = false;
  // false: greedy search, which is sooner done without them, leaves out scores and tokens.
  bool with_scores = true;
  Index batch_tokens = 1024;  // source tokens that are searched together
  Index first_line = 1;       // the number of the first line, for messages
};

struct TranslatedLine {
  std::string text;
  double score = 0;                // log-probability
  double normalised_score = 0;     // by length, and coverage if that counts
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
  // Shares its values with the model, so it translates with the weights of the moment.
  Translator(models::TranslationModel model, text::Tokenizer tokenizer,
             models::GenerationConfig generation = {});

  // What generation_config.json says, for all that a caller does not choose.
  BeamSearchOptions default_search() const;
  const models::TranslationModel& model() const { return model_; }
  const text::Tokenizer& tokenizer() const { return tokenizer_; }

  // One translation for each line, in their order. Refuses (ErrorKind::data) lines that are longer
  // than the model's learned positions, unless they may be cut, and prefixes that are.
  std::vector<Translation> translate(std::span<const std::string> lines,
                                     const TranslationOptions& options) const;
  std::vector<Translation> translate(std::span<const std::string> lines) const;

 private:
  struct Source {
    std::size_t line;
    std::vector<int> ids;     // without the end token
    std::vector<int> prefix;  // of the translation
  };

  static std::vector<std::span<const Source>> in_batches(std::span<const Source> sources,
                                                         Index batch_tokens);
  std::vector<Source> tokenized(std::span<const std::string> lines,
                                const TranslationOptions& options) const;
  std::vector<int> prefix_of(std::size_t line, const TranslationOptions& options) const;
  void translate_batch(const models::TranslationModel& model, std::span<const Source> batch,
                       const TranslationOptions& options,
                       const std::optional<ops::ArgmaxProjection>& finder,
                       std::span<Translation> translations) const;
  void align(const models::TranslationModel& model, std::span<const Source> batch,
             const TranslationOptions& options, std::span<const std::vector<Hypothesis>> hypotheses,
             std::span<Translation> translations) const;

  // For greedy search without scores; nothing for any other.
  std::optional<ops::ArgmaxProjection> finder_for(const TranslationOptions& options) const;

  struct Kept {  // what the weights of a packed model, which do not change, are turned into once
    std::once_flag is_made;
    std::optional<ops::ArgmaxProjection> finder;
  };

  models::TranslationModel model_;
  text::Tokenizer tokenizer_;
  models::GenerationConfig generation_;
  std::shared_ptr<Kept> kept_ = std::make_shared<Kept>();
};

}  // namespace heed::infer
