// Prompts and answers: a decoder-only model, trained to continue a prompt with its answer and the
// end token. The prompt itself has no loss.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/data/batch_plan.h"
#include "heed/data/prompt_corpus.h"
#include "heed/models/language_model.h"
#include "heed/text/lines.h"
#include "heed/train/model_task.h"
#include "heed/train/recipe.h"
#include "heed/train/training_files.h"

namespace heed::train {

class PromptTask : public ModelTask<models::LanguageModel, models::LanguageBatch> {
 public:
  // Reads `prompts` and `valid_prompts`.
  PromptTask(const FilePaths& files, const Recipe& recipe);

  std::string data_hash() const override;
  std::optional<DataSize> data_size() const override;
  void set_recipe(const Recipe& recipe) override;
  void prepare(const std::string& tokenizer_folder) override;
  DataSummary summary() const override;
  Index num_batches(Index epoch) override;
  std::string describe_batch(Index epoch, Index number) override;
  Index num_validation_batches() const override;
  // Scores of greedy answers to the first validation prompts, and some of these answers.
  bool add_scores(ValidationReport& report, const ShouldStop& should_stop) const override;

 protected:
  models::LanguageBatch training_batch(Index epoch, Index number) override;
  models::LanguageBatch validation_batch(Index number) const override;

 private:
  struct Validation {
    text::ParallelLines lines;  // the prompts and answers of the corpus
    data::PromptCorpus corpus;
    data::BatchPlan plan;
  };

  text::Tokenizer train_tokenizer() const;
  Index max_length() const;
  Validation make_validation() const;
  // Greedy answers to the first prompts to validate; nothing when stopped.
  std::optional<std::vector<std::string>> answer(std::size_t count,
                                                 const ShouldStop& should_stop) const;

  Recipe recipe_;
  std::vector<std::string> columns_;  // what was understood
  text::ParallelLines lines_;         // prompts and answers
  std::optional<text::ParallelLines> validation_lines_;
  // From here on: made by prepare().
  std::optional<data::PromptCorpus> corpus_;
  std::optional<Validation> validation_;
  data::EpochPlan plan_;
};

// Packs examples of a corpus, each a sequence of its own. Only the answers and their end tokens
// have a loss.
models::LanguageBatch make_batch(const data::PromptCorpus& corpus, std::span<const Index> examples);

}  // namespace heed::train
