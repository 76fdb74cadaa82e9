// Folders with small models of every kind, for the explorer to look at.
#pragma once

#include <string>
#include <vector>

#include "heed/explore/explorer_state.h"
#include "heed/models/classifier.h"
#include "heed/models/encoder.h"
#include "heed/models/language_model.h"
#include "heed/models/masked_model.h"
#include "heed/models/model_folder.h"
#include "heed/models/tagger.h"
#include "models/small_models.h"
#include "support/temporary_folder.h"

namespace heed::explore {

// Subwords of a few letters, so that words have several.
inline text::Tokenizer train_small_tokenizer(bool is_running_text, bool with_mask) {
  const std::vector<std::string> lines{"the bat sleeps in the cave", "the bat hits the ball",
                                       "a racket lies beside the bat", "the cave is dark",
                                       "a ball and a racket are in the cave"};
  return text::Tokenizer::train(lines, {.vocabulary = 48,
                                        .subwords = text::Subwords::bpe,
                                        .is_running_text = is_running_text,
                                        .with_mask = with_mask});
}

// All are trained at once, before an explorer starts threads: training forks, and a fork may copy
// the allocator of the address sanitizer while another thread holds its locks.
inline text::Tokenizer small_tokenizer(models::ModelKind kind) {
  static const text::Tokenizer of_lines = train_small_tokenizer(false, false),
                               of_running_text = train_small_tokenizer(true, false),
                               with_mask = train_small_tokenizer(false, true);
  if (kind == models::ModelKind::language) return of_running_text;
  return kind == models::ModelKind::masked ? with_mask : of_lines;
}

// Larger weights than training begins with, so that attention has something to choose.
template <typename Model>
Model shaken_model(const models::TransformerConfig& config, std::uint64_t seed) {
  Model model(config, seed);
  Rng rng(seed + 100);
  for (nn::NamedTensor& parameter : nn::named_parameters(model)) {
    for (float& value : parameter.value.values()) value += 0.3f * static_cast<float>(rng.normal());
  }
  return model;
}

class SmallFolder {
 public:
  explicit SmallFolder(models::TransformerConfig config, std::uint64_t seed = 7)
      : tokenizer_(small_tokenizer(config.kind)) {
    config.vocabulary = tokenizer_.size();
    config.max_positions = 512;
    if (config.kind == models::ModelKind::language) {
      save(shaken_model<models::LanguageModel>(config, seed));
    } else if (config.kind == models::ModelKind::classifier) {
      save(shaken_model<models::Classifier>(config, seed));
    } else if (config.kind == models::ModelKind::masked) {
      save(shaken_model<models::MaskedModel>(config, seed));
    } else if (config.kind == models::ModelKind::encoder) {
      save(shaken_model<models::Encoder>(config, seed));
    } else if (config.kind == models::ModelKind::tagger) {
      save(shaken_model<models::Tagger>(config, seed));
    } else {
      save(shaken_model<models::TranslationModel>(config, seed));
    }
  }
  explicit SmallFolder(models::ModelKind kind = models::ModelKind::translation)
      : SmallFolder(models::small_config(kind)) {}

  const std::string& path() const { return folder_.path(); }
  const text::Tokenizer& tokenizer() const { return tokenizer_; }
  ExplorerState state() const { return ExplorerState(path()); }
  std::shared_ptr<const ModelSession> session() const {
    return std::make_shared<const ModelSession>(path());
  }

 private:
  template <typename Model>
  void save(const Model& model) {
    models::save_model_folder(folder_.path(), model, tokenizer_);
  }

  TemporaryFolder folder_;
  text::Tokenizer tokenizer_;
};

}  // namespace heed::explore
