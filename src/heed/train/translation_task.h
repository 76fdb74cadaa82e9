// Translation: an encoder-decoder model, trained on pairs of sentences.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/data/batch_plan.h"
#include "heed/data/epoch_corpus.h"
#include "heed/models/translation_model.h"
#include "heed/text/lines.h"
#include "heed/train/model_task.h"
#include "heed/train/recipe.h"
#include "heed/train/training_files.h"
#include "heed/train/word_links.h"

namespace heed::train {

class TranslationTask : public ModelTask<models::TranslationModel, models::TranslationBatch> {
 public:
  static constexpr const char* alignment_role = "guided-alignment";

  // Reads `source` and `target`, or `pairs`; their validation files; and a word alignment.
  TranslationTask(const FilePaths& files, const Recipe& recipe);

  std::string data_hash() const override;
  std::optional<DataSize> data_size() const override;
  void set_recipe(const Recipe& recipe) override;
  void prepare(const std::string& tokenizer_folder) override;
  DataSummary summary() const override;
  Index num_batches(Index epoch) override { return plan(epoch).size(); }
  std::string describe_batch(Index epoch, Index number) override;
  Index num_validation_batches() const override;
  // Scores of greedy translations, and some of them.
  bool add_scores(ValidationReport& report, const ShouldStop& should_stop) const override;

 protected:
  models::TranslationBatch training_batch(Index epoch, Index number) override;
  models::TranslationBatch validation_batch(Index number) const override;

 private:
  // Pairs that the model is validated on: their text for scores, their tokens for the loss.
  struct Validation {
    std::vector<std::string> source, target;
    data::TranslationCorpus corpus;
    data::BatchPlan plan;
  };

  const data::BatchPlan& plan(Index epoch);
  std::vector<Index> lines_of(Index epoch, Index number);  // of the files, from 0
  text::Tokenizer train_tokenizer() const;
  Validation make_validation() const;
  // Greedy translations; nothing when stopped.
  std::optional<std::vector<std::string>> translate(std::span<const std::string> lines,
                                                    const ShouldStop& should_stop) const;

  Recipe recipe_;
  std::string examples_;              // lines of two files, or pairs of one
  std::vector<std::string> columns_;  // of files of pairs: what was understood
  text::ParallelLines lines_;
  std::optional<WordLinks> links_;  // one list for each training pair
  std::optional<text::ParallelLines> validation_lines_;
  // From here on: made by prepare().
  std::optional<data::EpochCorpus> corpus_;
  std::optional<Validation> validation_;
  data::EpochPlan plan_;
};

// Packs pairs of a corpus. The target input is the target output shifted right by one token: it
// begins with `start`.
models::TranslationBatch make_batch(const data::TranslationCorpus& corpus,
                                    std::span<const Index> pairs,
                                    int start = text::SpecialTokens().decoder_start);

}  // namespace heed::train
