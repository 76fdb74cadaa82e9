// Training a masked model on lines in which some tokens are hidden.
#pragma once

#include "heed/data/line_corpus.h"
#include "heed/data/masking.h"
#include "heed/models/masked_model.h"
#include "heed/text/tokenizer.h"
#include "heed/train/epoch_plan.h"
#include "heed/train/recipe.h"
#include "heed/train/training_task.h"

namespace heed::train {

class MaskedTask : public TrainingTask {
 public:
  // The tokenizer has a mask.
  MaskedTask(const TrainingOptions& options, text::Tokenizer tokenizer, data::LineCorpus corpus,
             std::optional<data::LineCorpus> validation, models::MaskedModel model);

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
  // These lines of a corpus, masked as in this epoch.
  models::MaskedBatch make_batch(const data::LineCorpus& corpus, std::span<const Index> lines,
                                 Index epoch) const;
  Sample sample(Index line) const;

  TrainingOptions options_;
  text::Tokenizer tokenizer_;
  data::LineCorpus corpus_;
  std::optional<data::LineCorpus> validation_;
  models::MaskedModel model_;
  data::Masking masking_;
  EpochPlan plan_;
};

}  // namespace heed::train
