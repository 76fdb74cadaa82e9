// Scoring: the log-probability of every token of a text.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/weight_format.h"
#include "heed/infer/top_tokens.h"
#include "heed/models/language_model.h"
#include "heed/models/model_folder.h"
#include "heed/models/translation_model.h"

namespace heed::infer {

struct ScoringOptions {
  Index batch_tokens = 1024;  // tokens in a batch
  bool truncate = false;      // cut the end of lines that are too long
  Index first_line = 1;       // the number of the first line, for messages
  // The number of each line, where they do not follow one another.
  std::span<const Index> line_numbers = {};
  // Intervenes in the model's attention; null: the model as it is.
  const nn::AttentionHook* hook = nullptr;
};

struct ScoredLine {
  std::vector<TokenScore> tokens;  // those of the line, then its end, unless it was truncated
  bool is_truncated = false;

  double log_probability() const;       // of all tokens; finite
  double mean_log_probability() const;  // per token
};

// Lines of text, by a language model. Each is scored as if between two others: a line end comes
// before it and is its last token. Lines have the same bits whatever the others are. A model
// without finite logits is refused (ErrorKind::model), as by PairScorer.
class LineScorer {
 public:
  // `weights`: the format to hold the weights in; not given: that of the folder.
  static LineScorer load(const std::string& folder,
                         std::optional<WeightFormat> weights = std::nullopt);
  LineScorer(models::LanguageModel model, text::Tokenizer tokenizer);

  const text::Tokenizer& tokenizer() const { return tokenizer_; }

  ScoredLine score(std::string_view line) const;
  // Refuses (ErrorKind::data) lines that do not fit into the model's context, unless they may be
  // truncated.
  std::vector<ScoredLine> score(std::span<const std::string> lines,
                                const ScoringOptions& options = {}) const;

 private:
  models::LanguageModel model_;
  text::Tokenizer tokenizer_;
};

// Translations, given their sources, by a translation model; the last token is the end token.
class PairScorer {
 public:
  // `weights`: the format to hold the weights in; not given: that of the folder.
  static PairScorer load(const std::string& folder,
                         std::optional<WeightFormat> weights = std::nullopt);
  PairScorer(models::TranslationModel model, text::Tokenizer tokenizer);

  const text::Tokenizer& tokenizer() const { return tokenizer_; }

  ScoredLine score(std::string_view source, std::string_view target) const;
  // Refuses (ErrorKind::data) lines of either side of more than max_text_tokens, unless they may be
  // truncated.
  std::vector<ScoredLine> score(std::span<const std::string> sources,
                                std::span<const std::string> targets,
                                const ScoringOptions& options = {}) const;

 private:
  models::TranslationModel model_;
  text::Tokenizer tokenizer_;
};

}  // namespace heed::infer
