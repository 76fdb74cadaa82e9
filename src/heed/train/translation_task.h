// Training a translation model on pairs of sentences.
#pragma once

#include "heed/data/epoch_corpus.h"
#include "heed/models/translation_model.h"
#include "heed/text/tokenizer.h"
#include "heed/train/epoch_plan.h"
#include "heed/train/recipe.h"
#include "heed/train/training_task.h"
#include "heed/train/validation.h"
#include "heed/train/word_links.h"

namespace heed::train {

class TranslationTask : public TrainingTask {
 public:
  TranslationTask(const TrainingOptions& options, text::Tokenizer tokenizer,
                  data::EpochCorpus corpus, std::optional<WordLinks> links,
                  std::optional<ValidationData> validation, models::TranslationModel model);

  const models::TransformerConfig& config() const override { return model_.config(); }
  void visit_parameters(nn::ParameterVisitor& visitor) override {
    model_.visit_parameters(visitor);
  }
  RunStart run_start(Index epoch, Index update) override;
  Index num_batches(Index epoch) override;
  BatchLoss loss(Index epoch, Index batch, nn::ForwardContext& context) override;
  bool has_validation() const override { return validation_.has_value(); }
  std::optional<double> validation_loss(const ShouldStop& should_stop) const override;
  bool add_scores(ValidationReport& report, const ShouldStop& should_stop) const override;
  void save_model(const std::string& folder) const override;
  void save_vocabulary(const std::string& folder) const override;

 private:
  const data::BatchPlan& plan(Index epoch);

  TrainingOptions options_;
  text::Tokenizer tokenizer_;
  data::EpochCorpus corpus_;
  std::optional<WordLinks> links_;  // for each line of the corpus
  std::optional<ValidationData> validation_;
  models::TranslationModel model_;
  EpochPlan plan_;
};

}  // namespace heed::train
