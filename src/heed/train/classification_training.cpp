#include "heed/train/classification_training.h"

#include "heed/base/error.h"
#include "heed/data/labelled_lines.h"
#include "heed/train/classification_task.h"
#include "heed/train/hash_lines.h"
#include "heed/train/text_task_maker.h"

namespace heed::train {
namespace {

using Lines = std::vector<data::LabelledLine>;

struct Data {
  Lines training;
  std::optional<Lines> validation;
  std::vector<std::string> labels;
  std::vector<int> classes, valid_classes;  // the numbers of the lines' labels
};

Data read_data(const FilePaths& files) {
  const std::string path = files.at("labelled");
  Data data;
  data.training = data::read_labelled_lines(path);
  data.labels = data::distinct_labels(data.training);
  check_as(ErrorKind::data, data.labels.size() >= 2, path,
           ": expected lines of at least 2 labels, found ", data.labels.size());
  data.classes = data::classes_of(data.training, data.labels, path);
  if (const std::string valid = path_of(files, "valid-labelled"); !valid.empty()) {
    data.validation = data::read_labelled_lines(valid);
    data.valid_classes = data::classes_of(*data.validation, data.labels, valid);
  }
  return data;
}

void check_options(const FilePaths& files, const Recipe& recipe) {
  const TrainingOptions& training = recipe.training;
  check_as(ErrorKind::usage, training.bpe_dropout == 0,
           "--bpe-dropout: expected 0 for --labelled, found ", training.bpe_dropout);
  const bool is_bounded = recipe.model.positions == models::Positions::learned &&
                          recipe.model.pooling == models::Pooling::first;
  check_as(ErrorKind::usage, !is_bounded || training.max_length < recipe.model.max_positions,
           "--max-length: expected less than --max-positions, which is ",
           recipe.model.max_positions, ", for --pooling first, found ", training.max_length);
  check_early_stopping(training.early_stopping, StoppingMetric::accuracy,
                       files.contains("valid-labelled"), "--valid-labelled");
}

LabelledCorpus make_corpus(const Lines& lines, const std::vector<int>& classes,
                           const text::Tokenizer& tokenizer, Index max_length) {
  LabelledCorpus corpus{data::LineCorpus::tokenize(data::texts_of(lines), tokenizer, max_length),
                        {}};
  for (Index line = 0; line < corpus.lines.size(); ++line) {
    corpus.classes.push_back(classes[static_cast<std::size_t>(corpus.lines.place(line))]);
  }
  return corpus;
}

std::unique_ptr<TrainingTask> make_task(const Data& data, const text::Tokenizer& tokenizer,
                                        const Recipe& recipe) {
  const TrainingOptions& training = recipe.training;
  std::optional<LabelledCorpus> validation;
  if (data.validation) {
    validation = make_corpus(*data.validation, data.valid_classes, tokenizer, training.max_length);
  }
  models::TransformerConfig config = recipe.model;
  config.vocabulary = tokenizer.size();
  config.labels = data.labels;
  return std::make_unique<ClassificationTask>(
      training, tokenizer, make_corpus(data.training, data.classes, tokenizer, training.max_length),
      std::move(validation), models::Classifier(config, training.seed));
}

void hash_labelled(io::Sha256& hash, const Lines& lines) {
  std::vector<std::string> both;
  for (const data::LabelledLine& line : lines) both.push_back(line.label + '\t' + line.text);
  hash_lines(hash, both);
}

class ClassificationMaker : public TextTaskMaker {
 public:
  ClassificationMaker(Data data, const Recipe& recipe, const std::string& from)
      : TextTaskMaker(from), data_(std::move(data)), recipe_(recipe) {}

  std::string data_hash() const override {
    io::Sha256 hash;
    hash_labelled(hash, data_.training);
    if (data_.validation) hash_labelled(hash, *data_.validation);
    return hash.hex_digest();
  }

 protected:
  text::Tokenizer train_tokenizer() const override {
    return text::Tokenizer::train(data::texts_of(data_.training), recipe_.tokenizer);
  }
  std::unique_ptr<TrainingTask> make(const text::Tokenizer& tokenizer) const override {
    return make_task(data_, tokenizer, recipe_);
  }

 private:
  Data data_;
  Recipe recipe_;
};

std::unique_ptr<TaskMaker> make(const FilePaths& files, const Recipe& recipe) {
  check_options(files, recipe);
  return std::make_unique<ClassificationMaker>(read_data(files), recipe, path_of(files, "from"));
}

}  // namespace

TrainingKind classification_training() {
  return {"classes",
          models::ModelKind::classifier,
          {{"labelled", "lines with a label: .tsv (label, tab, text), .csv or .jsonl"},
           {"valid-labelled", "held-out lines with labels, to watch the progress", false},
           from_role},
          "classes",
          make};
}

}  // namespace heed::train
