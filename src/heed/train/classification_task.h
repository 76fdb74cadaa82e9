// Training a classifier on lines with labels.
#pragma once

#include "heed/data/line_corpus.h"
#include "heed/models/classifier.h"
#include "heed/text/tokenizer.h"
#include "heed/train/epoch_plan.h"
#include "heed/train/recipe.h"
#include "heed/train/training_task.h"

namespace heed::train {

struct LabelledCorpus {
  data::LineCorpus lines;
  std::vector<int> classes;  // one for each line of the corpus
};

class ClassificationTask : public TrainingTask {
 public:
  ClassificationTask(const TrainingOptions& options, text::Tokenizer tokenizer,
                     LabelledCorpus corpus, std::optional<LabelledCorpus> validation,
                     models::Classifier model);

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
  TrainingOptions options_;
  text::Tokenizer tokenizer_;
  LabelledCorpus corpus_;
  std::optional<LabelledCorpus> validation_;
  models::Classifier model_;
  std::vector<float> class_weights_;  // empty: none
  EpochPlan plan_;
};

// Of n lines in K classes, those of a class with c lines count n / (K c): once on average, and all
// classes together the same.
std::vector<float> balanced_weights(std::span<const int> classes, std::size_t num_classes);

}  // namespace heed::train
