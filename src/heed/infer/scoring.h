// How likely a model finds texts: the log-probability of every token.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/infer/top_tokens.h"
#include "heed/models/language_model.h"
#include "heed/models/model_folder.h"
#include "heed/models/translation_model.h"

namespace heed::infer {

struct ScoringOptions {
  Index batch_tokens = 1024;  // that are read together
  bool truncate = false;      // cut the end of what is too long
  Index first_line = 1;       // the number of the first line, for messages
  // Intervenes in the model's attention; null: the model as it is.
  const nn::AttentionHook* hook = nullptr;
};

struct ScoredLine {
  std::vector<TokenScore> tokens;  // those of the line, then what ends it, unless it was cut
  bool is_cut = false;

  double log_probability() const;  // of all tokens
};

// Lines of running text, by a language model: each as if it stood between two others, so the end of
// a line comes before it and is its last token. Lines have the same bits whatever the others are.
class LineScorer {
 public:
  static LineScorer load(const std::string& folder);
  LineScorer(models::LanguageModel model, text::Tokenizer tokenizer);

  const text::Tokenizer& tokenizer() const { return tokenizer_; }

  // Refuses (ErrorKind::data) lines that do not fit into the model's context, unless they may be
  // cut.
  std::vector<ScoredLine> score(std::span<const std::string> lines,
                                const ScoringOptions& options = {}) const;

 private:
  models::LanguageModel model_;
  text::Tokenizer tokenizer_;
};

// Translations, given their sources, by a translation model; the last token is the end token.
class PairScorer {
 public:
  static PairScorer load(const std::string& folder);
  PairScorer(models::TranslationModel model, text::Tokenizer tokenizer);

  const text::Tokenizer& tokenizer() const { return tokenizer_; }

  // Refuses (ErrorKind::data) lines of either side that are longer than the model's learned
  // positions, unless they may be cut.
  std::vector<ScoredLine> score(std::span<const std::string> sources,
                                std::span<const std::string> targets,
                                const ScoringOptions& options = {}) const;

 private:
  models::TranslationModel model_;
  text::Tokenizer tokenizer_;
};

}  // namespace heed::infer
