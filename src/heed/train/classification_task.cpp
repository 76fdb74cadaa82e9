#include "heed/train/classification_task.h"

#include <iterator>

#include "heed/base/error.h"
#include "heed/data/data_checks.h"
#include "heed/train/early_stopping.h"
#include "heed/train/epoch_plan.h"
#include "heed/train/line_summary.h"
#include "heed/train/memory_need.h"
#include "heed/train/record_files.h"

namespace heed::train {
namespace {

void check_options(const FilePaths& files, const Recipe& recipe) {
  const TrainingOptions& training = recipe.training;
  check_as(ErrorKind::usage, training.bpe_dropout == 0,
           "`bpe_dropout`: expected 0 for `labelled`, found ", training.bpe_dropout);
  const bool is_bounded = recipe.model.positions == models::Positions::learned &&
                          recipe.model.pooling == models::Pooling::first;
  check_as(ErrorKind::usage, !is_bounded || training.max_length < recipe.model.max_positions,
           "`max_length`: expected less than `max_positions`, which is ",
           recipe.model.max_positions, ", for `pooling` first, found ", training.max_length);
  check_early_stopping(training.early_stopping, class_score_names, files.contains("valid-labelled"),
                       "`valid_labelled`");
}

void hash_labelled(io::Sha256& hash, const std::vector<data::LabelledLine>& lines) {
  std::vector<std::string> both;
  for (const data::LabelledLine& line : lines) both.push_back(line.label + '\t' + line.text);
  hash_lines(hash, both);
}

// Fields that were given are taken at their word.
void check_columns(std::span<const data::LabelledLine> lines, const TrainingOptions& training,
                   const std::string& path) {
  check_as(ErrorKind::data, !training.fields.empty() || !data::are_columns_swapped(lines), path,
           ": expected labels that occur again, found nearly every one once, and few texts: if the "
           "label is in column 2, `fields` 2,1, with `header` if the first row is one; if all is "
           "right, `fields` 1,2");
}

}  // namespace

std::vector<float> balanced_weights(std::span<const int> classes, std::size_t num_classes) {
  std::vector<Index> counts(num_classes);
  for (const int one : classes) ++counts[static_cast<std::size_t>(one)];
  std::vector<float> weights;
  for (const Index count : counts) {
    const auto share = static_cast<double>(num_classes) * static_cast<double>(count);
    weights.push_back(count == 0 ? 0
                                 : static_cast<float>(static_cast<double>(classes.size()) / share));
  }
  return weights;
}

ClassificationTask::ClassificationTask(const FilePaths& files, const Recipe& recipe)
    : recipe_(recipe), plan_(epoch_plan_options(recipe.training)) {
  check_options(files, recipe);
  training_lines_ = read(files.at("labelled"), recipe_, columns_);
  check_columns(training_lines_.lines, recipe_.training, files.at("labelled").front());
  const std::vector<std::string> labels = data::distinct_labels(training_lines_.lines);
  check_as(ErrorKind::data, labels.size() >= 2, files.at("labelled").front(),
           ": expected lines of at least 2 labels, found ", labels.size());
  recipe_.model.labels = labels;
  training_lines_.classes = data::classes_of(training_lines_.lines, labels, "");
  if (files.contains("valid-labelled")) {
    validation_lines_ = read(files.at("valid-labelled"), recipe_, columns_);
  }
}

// The classes too, if the recipe has the labels already.
ClassificationTask::Lines ClassificationTask::read(const PathList& paths, const Recipe& recipe,
                                                   std::vector<std::string>& columns) {
  Lines all;
  for (const std::string& path : paths) {
    data::LabelledLines file = data::read_labelled_lines(path, record_options(recipe.training));
    add_columns(columns, file.columns);
    if (!recipe.model.labels.empty()) {
      std::ranges::copy(data::classes_of(file.lines, recipe.model.labels, path),
                        std::back_inserter(all.classes));
    }
    std::ranges::move(file.lines, std::back_inserter(all.lines));
  }
  return all;
}

std::string ClassificationTask::data_hash() const {
  io::Sha256 hash;
  hash_labelled(hash, training_lines_.lines);
  if (validation_lines_) hash_labelled(hash, validation_lines_->lines);
  return hash.hex_digest();
}

std::optional<DataSize> ClassificationTask::data_size() const {
  std::vector<std::string> labels;
  for (const data::LabelledLine& line : training_lines_.lines) labels.push_back(line.label);
  return DataSize{text_size(data::texts_of(training_lines_.lines)), text_size(labels)};
}

void ClassificationTask::set_recipe(const Recipe& recipe) {
  const std::vector<std::string> labels = recipe_.model.labels;
  recipe_ = recipe;
  recipe_.model.labels = labels;
  plan_ = data::EpochPlan(epoch_plan_options(recipe.training));
}

void ClassificationTask::prepare(const std::string& tokenizer_folder) {
  const TrainingOptions& training = recipe_.training;
  tokenizer_ =
      tokenizer_folder.empty()
          ? text::Tokenizer::train(data::texts_of(training_lines_.lines), recipe_.tokenizer)
          : models::load_tokenizer(tokenizer_folder);
  if (validation_lines_) {
    validation_ = tokenize(*validation_lines_);
    validation_plan_ = data::BatchPlan::in_order(validation_->lines.sizes(), training.batch_tokens);
  }
  corpus_ = tokenize(training_lines_);
  if (training.class_weights == ClassWeights::balanced) {
    class_weights_ = balanced_weights(corpus_->classes, recipe_.model.labels.size());
  }
  recipe_.model.vocabulary = tokenizer_->size();
  model_ = make_model<models::Classifier>(recipe_);
}

ClassificationTask::Corpus ClassificationTask::tokenize(const Lines& lines) const {
  Corpus corpus{data::LineCorpus::tokenize(data::texts_of(lines.lines), *tokenizer_,
                                           {.max_length = recipe_.training.max_length,
                                            .truncate = recipe_.model.truncate_source}),
                {}};
  for (Index line = 0; line < corpus.lines.size(); ++line) {
    corpus.classes.push_back(lines.classes[static_cast<std::size_t>(corpus.lines.place(line))]);
  }
  return corpus;
}

DataSummary ClassificationTask::summary() const {
  DataSummary summary =
      line_summary(*tokenizer_, corpus_->lines, validation_ ? &validation_->lines : nullptr);
  const std::vector<data::LabelledLine>& lines = training_lines_.lines;
  summary.columns = columns_;
  for (std::size_t i = 0; i < std::min(lines.size(), max_summary_samples); ++i) {
    summary.samples.push_back({lines[i].text, lines[i].label});
  }
  summary.classes = count_classes(training_lines_.classes, recipe_.model.labels);
  summary.warnings = data::check_labelled(
      lines, validation_lines_ ? std::span<const data::LabelledLine>(validation_lines_->lines)
                               : std::span<const data::LabelledLine>());
  return summary;
}

Index ClassificationTask::num_batches(Index epoch) {
  return plan_.of_epoch(epoch, corpus_->lines.sizes()).size();
}

std::string ClassificationTask::describe_batch(Index epoch, Index number) {
  std::vector<Index> places;
  for (const Index line : plan_.of_epoch(epoch, corpus_->lines.sizes()).batch(number)) {
    places.push_back(corpus_->lines.place(line));
  }
  return list_places("examples", places);
}

models::ClassifierBatch ClassificationTask::training_batch(Index epoch, Index number) {
  return make_batch(*corpus_, plan_.of_epoch(epoch, corpus_->lines.sizes()).batch(number));
}

models::ClassifierBatch ClassificationTask::validation_batch(Index number) const {
  return make_batch(*validation_, validation_plan_.batch(number));
}

models::ClassifierBatch ClassificationTask::make_batch(const Corpus& corpus,
                                                       std::span<const Index> lines) {
  models::ClassifierBatch batch;
  std::vector<std::span<const int>> inputs;
  for (const Index line : lines) {
    inputs.push_back(corpus.lines.ids(line));
    batch.classes.push_back(corpus.classes[static_cast<std::size_t>(line)]);
  }
  batch.input = models::pack(inputs);
  return batch;
}

}  // namespace heed::train
