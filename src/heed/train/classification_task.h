// Classification of lines: an encoder-only model, trained on lines with a label.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/data/batch_plan.h"
#include "heed/data/labelled_lines.h"
#include "heed/data/line_corpus.h"
#include "heed/metrics/classification.h"
#include "heed/models/classifier.h"
#include "heed/models/image_classifier.h"
#include "heed/train/model_task.h"
#include "heed/train/recipe.h"
#include "heed/train/training_files.h"

namespace heed::train {

// What ClassTask::add_scores reports.
inline const std::vector<std::string> class_score_names{"accuracy", "macro_f1"};

// Of n examples in K classes, each of a class with c examples counts n / (K c): once on average,
// and all classes together the same.
std::vector<float> balanced_weights(std::span<const int> classes, std::size_t num_classes);

inline Tensor class_logits(const models::Classifier& model, const models::ClassifierBatch& batch,
                           nn::ForwardContext& context) {
  return model.logits(batch.input, context);
}
inline Tensor class_logits(const models::ImageClassifier& model, const models::ImageBatch& batch,
                           nn::ForwardContext& context) {
  return model.logits(batch.patches, context);
}

// What classifiers of lines and of images share: class weights in the training loss, accuracy and
// macro-F1 as scores.
template <typename Model, typename Batch>
class ClassTask : public ModelTask<Model, Batch> {
 public:
  BatchLoss loss(Index epoch, Index number, nn::ForwardContext& context) override {
    const Batch batch = this->training_batch(epoch, number);
    return this->with_size(this->model_->loss(batch, context, class_weights_), batch);
  }

  bool add_scores(ValidationReport& report, const ShouldStop& should_stop) const override {
    const NoGrad no_grad;
    std::vector<int> expected, predicted;
    for (Index i = 0; i < this->num_validation_batches(); ++i) {
      if (should_stop()) return false;
      const Batch batch = this->validation_batch(i);
      auto context = nn::ForwardContext::inference();
      const Tensor logits = class_logits(*this->model_, batch, context);  // [examples, classes]
      const Index num_classes = logits.dim(1);
      for (const float* row = logits.data(); row < logits.data() + logits.size();
           row += num_classes) {
        predicted.push_back(static_cast<int>(std::max_element(row, row + num_classes) - row));
      }
      expected.insert(expected.end(), batch.classes.begin(), batch.classes.end());
    }
    const metrics::ConfusionTable table(expected, predicted,
                                        static_cast<int>(this->labels().size()));
    report.scores = {{"accuracy", metrics::accuracy(table)},
                     {"macro_f1", metrics::macro_f1(table)}};
    return true;
  }

 protected:
  std::vector<float> class_weights_;  // one for each class; empty: every example counts once
};

class ClassificationTask : public ClassTask<models::Classifier, models::ClassifierBatch> {
 public:
  // Reads `labelled` and `valid_labelled`.
  ClassificationTask(const FilePaths& files, const Recipe& recipe);

  std::string data_hash() const override;
  std::optional<DataSize> data_size() const override;
  void set_recipe(const Recipe& recipe) override;
  void prepare(const std::string& tokenizer_folder) override;
  DataSummary summary() const override;
  Index num_batches(Index epoch) override;
  std::string describe_batch(Index epoch, Index number) override;
  Index num_validation_batches() const override { return validation_plan_.size(); }

 protected:
  models::ClassifierBatch training_batch(Index epoch, Index number) override;
  models::ClassifierBatch validation_batch(Index number) const override;

 private:
  struct Lines {
    std::vector<data::LabelledLine> lines;
    std::vector<int> classes;  // numbers of the lines' labels
  };
  struct Corpus {
    data::LineCorpus lines;
    std::vector<int> classes;  // one for each line of the corpus
  };
  static Lines read(const PathList& paths, const Recipe& recipe, std::vector<std::string>& columns);
  Corpus tokenize(const Lines& lines) const;
  static models::ClassifierBatch make_batch(const Corpus& corpus, std::span<const Index> lines);

  Recipe recipe_;
  std::vector<std::string> columns_;  // what was understood
  Lines training_lines_;
  std::optional<Lines> validation_lines_;
  // Made by prepare().
  std::optional<Corpus> corpus_, validation_;
  data::EpochPlan plan_;
  data::BatchPlan validation_plan_;
};

}  // namespace heed::train
