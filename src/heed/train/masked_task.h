// Masked language modelling: an encoder-only model, trained to predict the masked tokens of lines.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/data/batch_plan.h"
#include "heed/data/line_corpus.h"
#include "heed/data/masking.h"
#include "heed/models/masked_model.h"
#include "heed/train/model_task.h"
#include "heed/train/recipe.h"
#include "heed/train/training_files.h"

namespace heed::train {

class MaskedTask : public ModelTask<models::MaskedModel, models::MaskedBatch> {
 public:
  // Reads `masked` and `valid_masked`.
  MaskedTask(const FilePaths& files, const Recipe& recipe);

  std::string data_hash() const override;
  std::optional<DataSize> data_size() const override;
  void set_recipe(const Recipe& recipe) override;
  void prepare(const std::string& tokenizer_folder) override;
  DataSummary summary() const override;
  Index num_batches(Index epoch) override;
  std::string describe_batch(Index epoch, Index number) override;
  Index num_validation_batches() const override { return validation_plan_.size(); }
  // Some validation lines with their masked tokens predicted.
  bool add_scores(ValidationReport& report, const ShouldStop& should_stop) const override;

 protected:
  models::MaskedBatch training_batch(Index epoch, Index number) override;
  models::MaskedBatch validation_batch(Index number) const override;

 private:
  text::Tokenizer train_tokenizer() const;
  // These lines of a corpus, masked as in this epoch.
  models::MaskedBatch make_batch(const data::LineCorpus& corpus, std::span<const Index> lines,
                                 Index epoch) const;
  Sample sample(Index line) const;

  Recipe recipe_;
  std::vector<std::string> lines_;
  std::optional<std::vector<std::string>> validation_lines_;
  // Made by prepare().
  std::optional<data::LineCorpus> corpus_, validation_;
  std::optional<data::Masking> masking_;
  data::EpochPlan plan_;
  data::BatchPlan validation_plan_;
};

}  // namespace heed::train
