// Training a language model on windows of a text.
#pragma once

#include "heed/data/text_windows.h"
#include "heed/models/language_model.h"
#include "heed/text/tokenizer.h"
#include "heed/train/recipe.h"
#include "heed/train/training_task.h"

namespace heed::train {

class LanguageTask : public TrainingTask {
 public:
  LanguageTask(const TrainingOptions& options, text::Tokenizer tokenizer, data::TextWindows text,
               std::optional<data::TextWindows> validation, models::LanguageModel model);

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
  Index windows_per_batch() const;

  TrainingOptions options_;
  text::Tokenizer tokenizer_;
  data::TextWindows text_;
  std::optional<data::TextWindows> validation_;
  models::LanguageModel model_;
};

}  // namespace heed::train
