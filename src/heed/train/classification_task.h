// Classification of lines: an encoder-only model, trained on lines, or pairs of texts, with a
// class, any number of labels, or a number.
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

// What a validation reports: accuracy and macro_f1 of classes; micro_f1, macro_f1 and
// subset_accuracy of several labels; pearson, spearman and mse of a regression.
const std::vector<std::string>& class_score_names(ProblemType problem = ProblemType::single_label);

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
    std::vector<int> expected, predicted;
    const auto add = [&](const Batch& batch, const Tensor& logits) {
      const Index num_classes = logits.dim(1);
      for (const float* row = logits.data(); row < logits.data() + logits.size();
           row += num_classes) {
        predicted.push_back(static_cast<int>(std::max_element(row, row + num_classes) - row));
      }
      expected.insert(expected.end(), batch.classes.begin(), batch.classes.end());
    };
    if (!over_validation_logits(should_stop, add)) return false;
    const metrics::ConfusionTable table(expected, predicted,
                                        static_cast<int>(this->labels().size()));
    report.scores = {{"accuracy", metrics::accuracy(table)},
                     {"macro_f1", metrics::macro_f1(table)}};
    return true;
  }

 protected:
  // Calls work(batch, logits [examples, classes]) for all validation batches. False: stopped.
  template <typename Work>
  bool over_validation_logits(const ShouldStop& should_stop, Work&& work) const {
    const NoGrad no_grad;
    for (Index i = 0; i < this->num_validation_batches(); ++i) {
      if (should_stop()) return false;
      const Batch batch = this->validation_batch(i);
      auto context = nn::ForwardContext::inference();
      work(batch, class_logits(*this->model_, batch, context));
    }
    return true;
  }

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
  bool add_scores(ValidationReport& report, const ShouldStop& should_stop) const override;

 protected:
  models::ClassifierBatch training_batch(Index epoch, Index number) override;
  models::ClassifierBatch validation_batch(Index number) const override;

 private:
  struct Lines {
    std::vector<data::LabelledLine> lines;
    data::Targets targets;  // of the lines
  };
  struct Corpus {
    data::LineCorpus lines;
    const data::Targets* targets;  // of all lines, in the order of the data
  };
  ProblemType problem() const { return recipe_.model.problem_type; }
  void read_training_lines(const PathList& paths);
  void read_validation_lines(const PathList& paths);
  std::vector<data::LabelledLine> read(const std::string& path, data::TextPairs pairs);
  void check_labels(const std::string& path) const;
  void set_score_range(const std::string& path);
  std::vector<std::string> training_texts() const;
  std::vector<int> classes_of(const Corpus& corpus) const;
  Corpus tokenize(const Lines& lines) const;
  models::ClassifierBatch make_batch(const Corpus& corpus, std::span<const Index> lines) const;
  Tensor targets_of(const Corpus& corpus, std::span<const Index> lines) const;
  bool add_label_set_scores(ValidationReport& report, const ShouldStop& should_stop) const;
  bool add_number_scores(ValidationReport& report, const ShouldStop& should_stop) const;

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
