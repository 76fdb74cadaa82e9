// Language modelling: a decoder-only model, trained to predict the next token of a text.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/data/batch_plan.h"
#include "heed/data/text_windows.h"
#include "heed/models/language_model.h"
#include "heed/train/model_task.h"
#include "heed/train/recipe.h"
#include "heed/train/training_files.h"

namespace heed::train {

class LanguageTask : public ModelTask<models::LanguageModel, models::LanguageBatch> {
 public:
  // Reads `text` and `valid_text`.
  LanguageTask(const FilePaths& files, const Recipe& recipe);

  std::string data_hash() const override;
  std::optional<DataSize> data_size() const override;
  void set_recipe(const Recipe& recipe) override { recipe_ = recipe; }
  void prepare(const std::string& tokenizer_folder) override;
  DataSummary summary() const override;
  Index num_batches(Index) override { return batches(*windows_).size(); }
  std::string describe_batch(Index epoch, Index number) override;
  Index num_validation_batches() const override {
    return validation_ ? batches(*validation_).size() : 0;
  }
  // A sample of text that the model generates.
  bool add_scores(ValidationReport& report, const ShouldStop& should_stop) const override;

 protected:
  models::LanguageBatch training_batch(Index epoch, Index number) override;
  models::LanguageBatch validation_batch(Index number) const override;

 private:
  data::UniformBatches batches(const data::TextWindows& windows) const;
  text::Tokenizer train_tokenizer() const;
  Index line_at(Index token) const;

  Recipe recipe_;
  std::vector<std::string> lines_;
  std::optional<std::vector<std::string>> validation_lines_;
  // Made by prepare().
  std::optional<data::TextWindows> windows_, validation_;
};

}  // namespace heed::train
