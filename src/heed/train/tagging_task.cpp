#include "heed/train/tagging_task.h"

#include <algorithm>
#include <iterator>

#include "heed/base/error.h"
#include "heed/data/data_checks.h"
#include "heed/metrics/tag_scores.h"
#include "heed/text/encode_words.h"
#include "heed/train/classification_task.h"
#include "heed/train/early_stopping.h"
#include "heed/train/epoch_plan.h"
#include "heed/train/line_summary.h"
#include "heed/train/memory_need.h"

namespace heed::train {
namespace {

void hash_tagged(io::Sha256& hash, std::span<const data::TaggedLine> lines) {
  std::vector<std::string> both;
  for (const data::TaggedLine& line : lines) {
    both.push_back(text::join_words(line.words) + '\t' + text::join_words(line.tags));
  }
  hash_lines(hash, both);
}

std::vector<int> all_tags(std::span<const std::vector<int>> lines) {
  std::vector<int> all;
  for (const std::vector<int>& line : lines) all.insert(all.end(), line.begin(), line.end());
  return all;
}

// The most likely tag of each word of a batch.
std::vector<int> predicted_tags(const models::Tagger& model, const models::TaggerBatch& batch) {
  auto context = nn::ForwardContext::inference();
  const Tensor logits = model.logits(batch.input, batch.places, context);  // [words, tags]
  const Index num_tags = logits.dim(1);
  std::vector<int> tags;
  for (const float* row = logits.data(); row < logits.data() + logits.size(); row += num_tags) {
    tags.push_back(static_cast<int>(std::max_element(row, row + num_tags) - row));
  }
  return tags;
}

}  // namespace

std::vector<std::string> tag_score_names(std::span<const std::string> tags) {
  if (metrics::are_entity_tags(tags)) return {"accuracy", "precision", "recall", "f1"};
  return {"accuracy", "macro_f1"};
}

TaggingTask::TaggingTask(const FilePaths& files, const Recipe& recipe)
    : recipe_(recipe), plan_(epoch_plan_options(recipe.training)) {
  check_as(ErrorKind::usage, recipe.training.bpe_dropout == 0,
           "`bpe_dropout`: expected 0 for `tagged`, found ", recipe.training.bpe_dropout);
  training_lines_ = read(files.at("tagged"), recipe_);
  const std::vector<std::string> tags = data::distinct_tags(training_lines_.lines);
  check_as(ErrorKind::data, tags.size() >= 2, files.at("tagged").front(),
           ": expected words of at least 2 tags, found ", tags.size());
  check_early_stopping(recipe.training.early_stopping, tag_score_names(tags),
                       files.contains("valid-tagged"), "`valid_tagged`");
  recipe_.model.labels = tags;
  training_lines_.tags = data::tag_numbers(training_lines_.lines, tags, "");
  if (files.contains("valid-tagged")) validation_lines_ = read(files.at("valid-tagged"), recipe_);
}

TaggingTask::Lines TaggingTask::read(const PathList& paths, const Recipe& recipe) {
  Lines all;
  for (const std::string& path : paths) {
    std::vector<data::TaggedLine> lines = data::read_tagged_lines(path);
    if (!recipe.model.labels.empty()) {
      std::ranges::move(data::tag_numbers(lines, recipe.model.labels, path),
                        std::back_inserter(all.tags));
    }
    std::ranges::move(lines, std::back_inserter(all.lines));
  }
  return all;
}

std::string TaggingTask::data_hash() const {
  io::Sha256 hash;
  hash_tagged(hash, training_lines_.lines);
  if (validation_lines_) hash_tagged(hash, validation_lines_->lines);
  return hash.hex_digest();
}

std::optional<DataSize> TaggingTask::data_size() const {
  return DataSize{text_size(data::texts_of(training_lines_.lines)), {}};
}

void TaggingTask::set_recipe(const Recipe& recipe) {
  const std::vector<std::string> tags = recipe_.model.labels;
  recipe_ = recipe;
  recipe_.model.labels = tags;
  plan_ = data::EpochPlan(epoch_plan_options(recipe.training));
}

void TaggingTask::prepare(const std::string& tokenizer_folder) {
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
    tag_weights_ = balanced_weights(all_tags(corpus_->tags), recipe_.model.labels.size());
  }
  recipe_.model.vocabulary = tokenizer_->size();
  model_ = make_model<models::Tagger>(recipe_);
}

TaggingTask::Corpus TaggingTask::tokenize(const Lines& lines) const {
  std::vector<std::vector<std::string>> words;
  for (const data::TaggedLine& line : lines.lines) words.push_back(line.words);
  std::vector<text::EncodedWords> encoded = text::encode_words(words, *tokenizer_);
  std::vector<std::vector<int>> ids;
  for (text::EncodedWords& line : encoded) ids.push_back(std::move(line.ids));

  Corpus corpus{data::LineCorpus::of_tokens(std::move(ids), tokenizer_->sequence(),
                                            {.max_length = recipe_.training.max_length}),
                {},
                {}};
  for (Index line = 0; line < corpus.lines.size(); ++line) {
    const auto place = static_cast<std::size_t>(corpus.lines.place(line));
    corpus.first_tokens.push_back(std::move(encoded[place].first_token));
    corpus.tags.push_back(lines.tags[place]);
  }
  return corpus;
}

DataSummary TaggingTask::summary() const {
  DataSummary summary =
      line_summary(*tokenizer_, corpus_->lines, validation_ ? &validation_->lines : nullptr);
  summary.examples = "sentences";
  const std::vector<data::TaggedLine>& lines = training_lines_.lines;
  for (std::size_t i = 0; i < std::min(lines.size(), max_summary_samples); ++i) {
    summary.samples.push_back({text::join_words(lines[i].words), text::join_words(lines[i].tags)});
  }
  summary.classes = count_classes(all_tags(training_lines_.tags), recipe_.model.labels);
  summary.warnings = data::check_lines(
      data::texts_of(lines),
      validation_lines_ ? data::texts_of(validation_lines_->lines) : std::vector<std::string>());
  return summary;
}

Index TaggingTask::num_batches(Index epoch) {
  return plan_.of_epoch(epoch, corpus_->lines.sizes()).size();
}

BatchLoss TaggingTask::loss(Index epoch, Index number, nn::ForwardContext& context) {
  const models::TaggerBatch batch = training_batch(epoch, number);
  return with_size(model_->loss(batch, context, tag_weights_), batch);
}

std::string TaggingTask::describe_batch(Index epoch, Index number) {
  std::vector<Index> places;
  for (const Index line : plan_.of_epoch(epoch, corpus_->lines.sizes()).batch(number)) {
    places.push_back(corpus_->lines.place(line));
  }
  return list_places("sentences", places);
}

models::TaggerBatch TaggingTask::training_batch(Index epoch, Index number) {
  return make_batch(*corpus_, plan_.of_epoch(epoch, corpus_->lines.sizes()).batch(number));
}

models::TaggerBatch TaggingTask::validation_batch(Index number) const {
  return make_batch(*validation_, validation_plan_.batch(number));
}

models::TaggerBatch TaggingTask::make_batch(const Corpus& corpus, std::span<const Index> lines) {
  models::TaggerBatch batch;
  std::vector<std::span<const int>> inputs;
  Index begin = 0;
  for (const Index line : lines) {
    const auto number = static_cast<std::size_t>(line);
    for (const Index token : corpus.first_tokens[number]) batch.places.push_back(begin + token);
    std::ranges::copy(corpus.tags[number], std::back_inserter(batch.tags));
    inputs.push_back(corpus.lines.ids(line));
    begin += std::ssize(inputs.back());
  }
  batch.input = models::pack(inputs);
  return batch;
}

bool TaggingTask::add_scores(ValidationReport& report, const ShouldStop& should_stop) const {
  const NoGrad no_grad;
  std::vector<std::vector<int>> predicted;
  for (Index i = 0; i < num_validation_batches(); ++i) {
    if (should_stop()) return false;
    const std::vector<int> tags = predicted_tags(*model_, validation_batch(i));
    for (auto next = tags.begin(); const Index line : validation_plan_.batch(i)) {
      const auto end = next + std::ssize(validation_->tags[static_cast<std::size_t>(line)]);
      predicted.emplace_back(next, end);
      next = end;
    }
  }
  const metrics::TagScores scores = metrics::score_tags(predicted, validation_->tags, labels());
  report.scores = {{"accuracy", metrics::accuracy(scores.words)}};
  if (scores.entities) {
    const metrics::PrecisionRecall& entities = scores.entities->micro;
    report.scores.push_back({"precision", entities.precision});
    report.scores.push_back({"recall", entities.recall});
    report.scores.push_back({"f1", entities.f1});
  } else {
    report.scores.push_back({"macro_f1", metrics::macro_f1(scores.words)});
  }
  return true;
}

}  // namespace heed::train
