// Tagging of words: an encoder-only model, trained on lines whose words have tags.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/data/batch_plan.h"
#include "heed/data/line_corpus.h"
#include "heed/data/tagged_lines.h"
#include "heed/models/tagger.h"
#include "heed/train/model_task.h"
#include "heed/train/recipe.h"
#include "heed/train/training_files.h"

namespace heed::train {

// What a validation reports: accuracy, and precision, recall and F1 of entities if all tags are
// those of entities, otherwise macro-F1 over the tags.
std::vector<std::string> tag_score_names(std::span<const std::string> tags);

class TaggingTask : public ModelTask<models::Tagger, models::TaggerBatch> {
 public:
  // Reads `tagged` and `valid_tagged`.
  TaggingTask(const FilePaths& files, const Recipe& recipe);

  std::string data_hash() const override;
  std::optional<DataSize> data_size() const override;
  void set_recipe(const Recipe& recipe) override;
  void prepare(const std::string& tokenizer_folder) override;
  DataSummary summary() const override;
  Index num_batches(Index epoch) override;
  BatchLoss loss(Index epoch, Index number, nn::ForwardContext& context) override;
  std::string describe_batch(Index epoch, Index number) override;
  Index num_validation_batches() const override { return validation_plan_.size(); }
  bool add_scores(ValidationReport& report, const ShouldStop& should_stop) const override;

 protected:
  models::TaggerBatch training_batch(Index epoch, Index number) override;
  models::TaggerBatch validation_batch(Index number) const override;

 private:
  struct Lines {
    std::vector<data::TaggedLine> lines;
    std::vector<std::vector<int>> tags;  // numbers of the words' tags
  };
  struct Corpus {
    data::LineCorpus lines;
    std::vector<std::vector<Index>> first_tokens;  // of the words of each line of the corpus
    std::vector<std::vector<int>> tags;            // of the same words
  };
  // With the numbers of the tags if the recipe has these already.
  static Lines read(const PathList& paths, const Recipe& recipe);
  Corpus tokenize(const Lines& lines) const;
  static models::TaggerBatch make_batch(const Corpus& corpus, std::span<const Index> lines);

  Recipe recipe_;
  Lines training_lines_;
  std::optional<Lines> validation_lines_;
  // Made by prepare().
  std::optional<Corpus> corpus_, validation_;
  std::vector<float> tag_weights_;  // one for each tag; empty: every word counts once
  data::EpochPlan plan_;
  data::BatchPlan validation_plan_;
};

}  // namespace heed::train
