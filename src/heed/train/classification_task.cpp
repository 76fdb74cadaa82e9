#include "heed/train/classification_task.h"

#include <cmath>
#include <iterator>
#include <numeric>

#include "heed/base/error.h"
#include "heed/data/data_checks.h"
#include "heed/infer/packing.h"
#include "heed/metrics/multi_label.h"
#include "heed/metrics/regression.h"
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
                          models::puts_begin_first(recipe.model);
  check_as(ErrorKind::usage, !is_bounded || training.max_length < recipe.model.max_positions,
           "`max_length`: expected less than `max_positions`, which is ",
           recipe.model.max_positions, ", for `pooling` first, found ", training.max_length);
  const ProblemType problem = recipe.model.problem_type;
  check_as(ErrorKind::usage,
           problem == ProblemType::single_label || training.class_weights == ClassWeights::none,
           "`class_weights`: expected none for the problem type ", name_of(problem),
           ", found balanced");
  check_early_stopping(training.early_stopping, class_score_names(problem),
                       files.contains("valid-labelled"), "`valid_labelled`");
}

void hash_labelled(io::Sha256& hash, const std::vector<data::LabelledLine>& lines) {
  std::vector<std::string> all;
  for (const data::LabelledLine& line : lines) {
    all.push_back(line.label + '\t' + line.text);
    if (!line.second.empty()) all.back().append(1, '\t').append(line.second);
  }
  hash_lines(hash, all);
}

// Fields that were given are taken at their word. Labels that are no classes may all differ.
void check_columns(std::span<const data::LabelledLine> lines, const Recipe& recipe,
                   const std::string& path) {
  const bool is_asked_for =
      !recipe.training.fields.empty() || recipe.model.problem_type != ProblemType::single_label;
  check_as(ErrorKind::data, is_asked_for || !data::are_columns_swapped(lines), path,
           ": expected labels that occur again, found nearly every one once, and few texts: if the "
           "label is in column 2, `fields` 2,1, with `header` if the first row is one; if all is "
           "right, `fields` 1,2");
}

void append(data::Targets& all, const data::Targets& more) {
  std::ranges::copy(more.classes, std::back_inserter(all.classes));
  std::ranges::copy(more.label_sets, std::back_inserter(all.label_sets));
  std::ranges::copy(more.numbers, std::back_inserter(all.numbers));
}

// What a sample shows of a line: "a premise | a hypothesis".
std::string shown_text(const data::LabelledLine& line) {
  return line.second.empty() ? line.text : line.text + " | " + line.second;
}

// One for each label of each line.
std::vector<int> all_classes(const data::Targets& targets) {
  std::vector<int> all = targets.classes;
  for (const std::vector<int>& set : targets.label_sets) {
    all.insert(all.end(), set.begin(), set.end());
  }
  return all;
}

// The columns of a row, [rows, labels], with at least this value.
metrics::LabelSet labels_above(float threshold, const Tensor& x, Index row) {
  metrics::LabelSet labels;
  const float* values = x.data() + row * x.dim(1);
  for (Index label = 0; label < x.dim(1); ++label) {
    if (values[label] >= threshold) labels.push_back(static_cast<int>(label));
  }
  return labels;
}

}  // namespace

const std::vector<std::string>& class_score_names(ProblemType problem) {
  static const std::vector<std::string> classes{"accuracy", "macro_f1"},
      label_sets{"micro_f1", "macro_f1", "subset_accuracy"}, numbers{"pearson", "spearman", "mse"};
  switch (problem) {
    case ProblemType::multi_label:
      return label_sets;
    case ProblemType::regression:
      return numbers;
    default:
      return classes;
  }
}

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
  read_training_lines(files.at("labelled"));
  if (files.contains("valid-labelled")) read_validation_lines(files.at("valid-labelled"));
}

// The first file says whether there are pairs; labels and the scale of numbers come from all.
void ClassificationTask::read_training_lines(const PathList& paths) {
  std::vector<data::LabelledLine>& lines = training_lines_.lines;
  data::TextPairs pairs = data::TextPairs::if_named;
  for (const std::string& path : paths) {
    std::ranges::move(read(path, pairs), std::back_inserter(lines));
    pairs = recipe_.model.text_pairs ? data::TextPairs::always : data::TextPairs::never;
  }
  check_columns(lines, recipe_, paths.front());
  recipe_.model.labels = data::distinct_labels(lines, problem());
  check_labels(paths.front());
  training_lines_.targets = data::targets_of(lines, recipe_.model.labels, "", problem());
  if (problem() == ProblemType::regression) set_score_range(paths.front());
}

void ClassificationTask::read_validation_lines(const PathList& paths) {
  validation_lines_.emplace();
  for (const std::string& path : paths) {
    std::vector<data::LabelledLine> lines =
        read(path, recipe_.model.text_pairs ? data::TextPairs::always : data::TextPairs::never);
    append(validation_lines_->targets,
           data::targets_of(lines, recipe_.model.labels, path, problem()));
    std::ranges::move(lines, std::back_inserter(validation_lines_->lines));
  }
}

std::vector<data::LabelledLine> ClassificationTask::read(const std::string& path,
                                                         data::TextPairs pairs) {
  data::LabelledLines file =
      data::read_labelled_lines(path, record_options(recipe_.training, {2, 3}), problem(), pairs);
  add_columns(columns_, file.columns);
  recipe_.model.text_pairs = file.has_pairs;
  return std::move(file.lines);
}

void ClassificationTask::check_labels(const std::string& path) const {
  const std::size_t num_needed = problem() == ProblemType::single_label ? 2 : 1;
  const std::size_t num_labels = recipe_.model.labels.size();
  check_as(ErrorKind::data, num_labels >= num_needed, path, ": expected lines of at least ",
           num_needed, num_needed == 1 ? " label" : " labels", ", found ", num_labels);
}

// The model predicts numbers of mean 0 and variance 1, whatever the unit of those in the data. The
// layouts of other families have no place for the two; their models predict the numbers themselves.
void ClassificationTask::set_score_range(const std::string& path) {
  const std::vector<double>& numbers = training_lines_.targets.numbers;
  const auto count = static_cast<double>(numbers.size());
  const double mean = std::accumulate(numbers.begin(), numbers.end(), 0.0) / count;
  double variance = 0;
  for (const double number : numbers) variance += (number - mean) * (number - mean) / count;
  check_as(ErrorKind::data, variance > 0, path, ": expected numbers that differ, found only ",
           numbers.front());
  if (!recipe_.model.family.empty()) return;
  recipe_.model.score_mean = static_cast<float>(mean);
  recipe_.model.score_scale = static_cast<float>(std::sqrt(variance));
}

std::string ClassificationTask::data_hash() const {
  io::Sha256 hash;
  hash_labelled(hash, training_lines_.lines);
  if (validation_lines_) hash_labelled(hash, validation_lines_->lines);
  return hash.hex_digest();
}

std::optional<DataSize> ClassificationTask::data_size() const {
  std::vector<std::string> labels, texts;
  for (const data::LabelledLine& line : training_lines_.lines) {
    labels.push_back(line.label);
    texts.push_back(line.second.empty() ? line.text : line.text + ' ' + line.second);
  }
  return DataSize{text_size(texts), text_size(labels)};
}

// What comes from the data stays.
void ClassificationTask::set_recipe(const Recipe& recipe) {
  const models::TransformerConfig model = std::move(recipe_.model);
  recipe_ = recipe;
  recipe_.model.labels = model.labels;
  recipe_.model.text_pairs = model.text_pairs;
  recipe_.model.score_mean = model.score_mean;
  recipe_.model.score_scale = model.score_scale;
  plan_ = data::EpochPlan(epoch_plan_options(recipe.training));
}

void ClassificationTask::prepare(const std::string& tokenizer_folder) {
  const TrainingOptions& training = recipe_.training;
  if (tokenizer_folder.empty()) {
    tokenizer_ = text::Tokenizer::train(training_texts(), recipe_.tokenizer);
  } else {
    load_tokenizer(tokenizer_folder);
  }
  if (validation_lines_) {
    validation_ = tokenize(*validation_lines_);
    validation_plan_ = data::BatchPlan::in_order(validation_->lines.sizes(), training.batch_tokens);
  }
  corpus_ = tokenize(training_lines_);
  if (training.class_weights == ClassWeights::balanced) {
    class_weights_ = balanced_weights(classes_of(*corpus_), recipe_.model.labels.size());
  }
  set_vocabulary(recipe_.model, *tokenizer_);
  model_ = make_model<models::Classifier>(recipe_);
}

// Of pairs the second texts too.
std::vector<std::string> ClassificationTask::training_texts() const {
  std::vector<std::string> texts = data::texts_of(training_lines_.lines);
  if (recipe_.model.text_pairs) {
    std::ranges::move(data::second_texts_of(training_lines_.lines), std::back_inserter(texts));
  }
  return texts;
}

// Of the lines that are kept.
std::vector<int> ClassificationTask::classes_of(const Corpus& corpus) const {
  std::vector<int> classes;
  for (Index line = 0; line < corpus.lines.size(); ++line) {
    classes.push_back(corpus.targets->classes[static_cast<std::size_t>(corpus.lines.place(line))]);
  }
  return classes;
}

ClassificationTask::Corpus ClassificationTask::tokenize(const Lines& lines) const {
  const data::LengthOptions lengths{.max_length = recipe_.training.max_length,
                                    .truncate = recipe_.model.truncate_source};
  const std::vector<std::string> texts = data::texts_of(lines.lines);
  if (!recipe_.model.text_pairs) {
    return {data::LineCorpus::tokenize(texts, *tokenizer_, lengths), &lines.targets};
  }
  return {data::LineCorpus::tokenize_pairs(texts, data::second_texts_of(lines.lines), *tokenizer_,
                                           lengths),
          &lines.targets};
}

DataSummary ClassificationTask::summary() const {
  DataSummary summary =
      line_summary(*tokenizer_, corpus_->lines, validation_ ? &validation_->lines : nullptr);
  const std::vector<data::LabelledLine>& lines = training_lines_.lines;
  summary.columns = columns_;
  for (std::size_t i = 0; i < std::min(lines.size(), max_summary_samples); ++i) {
    summary.samples.push_back({shown_text(lines[i]), lines[i].label});
  }
  if (problem() != ProblemType::regression) {
    summary.classes = count_classes(all_classes(training_lines_.targets), recipe_.model.labels);
  }
  summary.warnings = data::check_labelled(
      lines,
      validation_lines_ ? std::span<const data::LabelledLine>(validation_lines_->lines)
                        : std::span<const data::LabelledLine>(),
      problem());
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
                                                       std::span<const Index> lines) const {
  models::ClassifierBatch batch;
  std::vector<std::span<const int>> inputs;
  for (const Index line : lines) inputs.push_back(corpus.lines.ids(line));
  batch.input = infer::pack_inputs(inputs, tokenizer_->sequence());
  if (problem() != ProblemType::single_label) {
    batch.targets = targets_of(corpus, lines);
    return batch;
  }
  for (const Index line : lines) {
    batch.classes.push_back(
        corpus.targets->classes[static_cast<std::size_t>(corpus.lines.place(line))]);
  }
  return batch;
}

// As in ClassifierBatch::targets.
Tensor ClassificationTask::targets_of(const Corpus& corpus, std::span<const Index> lines) const {
  const models::TransformerConfig& model = recipe_.model;
  Tensor targets = Tensor::zeros({std::ssize(lines), std::ssize(model.labels)});
  float* row = targets.data();
  for (const Index line : lines) {
    const auto place = static_cast<std::size_t>(corpus.lines.place(line));
    if (problem() == ProblemType::regression) {
      const double distance = corpus.targets->numbers[place] - double{model.score_mean};
      *row = static_cast<float>(distance / double{model.score_scale});
    } else {
      for (const int label : corpus.targets->label_sets[place]) row[label] = 1;
    }
    row += targets.dim(1);
  }
  return targets;
}

bool ClassificationTask::add_scores(ValidationReport& report, const ShouldStop& should_stop) const {
  switch (problem()) {
    case ProblemType::multi_label:
      return add_label_set_scores(report, should_stop);
    case ProblemType::regression:
      return add_number_scores(report, should_stop);
    default:
      return ClassTask::add_scores(report, should_stop);
  }
}

bool ClassificationTask::add_label_set_scores(ValidationReport& report,
                                              const ShouldStop& should_stop) const {
  std::vector<metrics::LabelSet> expected, predicted;
  const auto add = [&](const models::ClassifierBatch& batch, const Tensor& logits) {
    for (Index row = 0; row < logits.dim(0); ++row) {
      expected.push_back(labels_above(0.5f, batch.targets, row));
      predicted.push_back(labels_above(0, logits, row));  // a logit of 0 is a probability of 0.5
    }
  };
  if (!over_validation_logits(should_stop, add)) return false;
  const metrics::LabelCounts counts(expected, predicted, static_cast<int>(labels().size()));
  report.scores = {{"micro_f1", counts.micro().f1},
                   {"macro_f1", metrics::macro_f1(counts)},
                   {"subset_accuracy", metrics::subset_accuracy(counts)}};
  return true;
}

// In the unit of the data.
bool ClassificationTask::add_number_scores(ValidationReport& report,
                                           const ShouldStop& should_stop) const {
  const models::TransformerConfig& model = recipe_.model;
  std::vector<double> expected, predicted;
  const auto append = [&](std::vector<double>& numbers, const Tensor& values) {
    for (const float value : values.values()) {
      numbers.push_back(double{model.score_mean} + double{model.score_scale} * double{value});
    }
  };
  const auto add = [&](const models::ClassifierBatch& batch, const Tensor& logits) {
    append(expected, batch.targets);
    append(predicted, logits);
  };
  if (!over_validation_logits(should_stop, add)) return false;
  report.scores = {{"pearson", metrics::pearson_correlation(expected, predicted)},
                   {"spearman", metrics::spearman_correlation(expected, predicted)},
                   {"mse", metrics::mean_squared_error(expected, predicted)}};
  return true;
}

}  // namespace heed::train
