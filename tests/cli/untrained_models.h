// A small model of each kind with random weights, saved in a folder: it answers with nonsense, and
// always with the same.
#pragma once

#include <string>
#include <vector>

#include "heed/models/classifier.h"
#include "heed/models/language_model.h"
#include "heed/models/masked_model.h"
#include "heed/models/model_folder.h"
#include "heed/models/translation_model.h"
#include "models/overflowing_model.h"
#include "models/small_models.h"
#include "support/temporary_folder.h"

namespace heed::cli {

enum class Weights { random, overflowing };

class UntrainedModels {
 public:
  explicit UntrainedModels(Weights weights = Weights::random) : weights_(weights) {
    const std::vector<std::string> lines{"one two three four", "a bat lives in the cave"};
    using text::Subwords;
    save<models::TranslationModel>("translation", models::ModelKind::translation,
                                   text::Tokenizer::train(lines, {.subwords = Subwords::byte}));
    save<models::LanguageModel>(
        "language", models::ModelKind::language,
        text::Tokenizer::train(lines, {.subwords = Subwords::character, .is_running_text = true}));
    save<models::Classifier>("classifier", models::ModelKind::classifier,
                             text::Tokenizer::train(lines, {.subwords = Subwords::word}));
    save<models::MaskedModel>(
        "masked", models::ModelKind::masked,
        text::Tokenizer::train(lines, {.subwords = Subwords::character, .with_mask = true}));
  }

  std::string translation() const { return folder_.file("translation"); }
  std::string language() const { return folder_.file("language"); }
  std::string classifier() const { return folder_.file("classifier"); }
  std::string masked() const { return folder_.file("masked"); }
  const TemporaryFolder& folder() const { return folder_; }

 private:
  template <typename Model>
  void save(const std::string& name, models::ModelKind kind, const text::Tokenizer& tokenizer) {
    models::TransformerConfig config = models::small_config(kind);
    config.vocabulary = tokenizer.size();
    const Model model(config, 1);
    models::save_model_folder(
        folder_.file(name),
        weights_ == Weights::overflowing ? models::overflowing(Model(config, 1)) : model,
        tokenizer);
  }

  Weights weights_;
  TemporaryFolder folder_;
};

}  // namespace heed::cli
