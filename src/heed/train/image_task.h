// Training a classifier on images.
#pragma once

#include <optional>

#include "heed/data/labelled_images.h"
#include "heed/data/patches.h"
#include "heed/models/image_classifier.h"
#include "heed/train/recipe.h"
#include "heed/train/training_task.h"

namespace heed::train {

class ImageTask : public TrainingTask {
 public:
  // The images have the shape that the model's configuration says, and outlive the task; there may
  // be none to validate.
  ImageTask(const TrainingOptions& options, const data::LabelledImages& images,
            const data::LabelledImages* validation, models::ImageClassifier model);

  const models::TransformerConfig& config() const override { return model_.config(); }
  void visit_parameters(nn::ParameterVisitor& visitor) override {
    model_.visit_parameters(visitor);
  }
  RunStart run_start(Index epoch, Index update) override;
  Index num_batches(Index epoch) override;
  BatchLoss loss(Index epoch, Index batch, nn::ForwardContext& context) override;
  bool has_validation() const override { return validation_ != nullptr; }
  std::optional<double> validation_loss(const ShouldStop& should_stop) const override;
  bool add_scores(ValidationReport& report, const ShouldStop& should_stop) const override;
  void save_model(const std::string& folder) const override;
  void save_vocabulary(const std::string&) const override {}  // images have none

 private:
  Index images_per_batch() const;
  data::Shift shift_of(Index image, Index epoch) const;

  TrainingOptions options_;
  const data::LabelledImages& images_;
  const data::LabelledImages* validation_;
  models::ImageClassifier model_;
  std::vector<float> class_weights_;  // empty: none
};

}  // namespace heed::train
