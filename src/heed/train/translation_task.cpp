#include "heed/train/translation_task.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/data/data_checks.h"
#include "heed/infer/translator.h"
#include "heed/metrics/word_alignment.h"
#include "heed/train/early_stopping.h"
#include "heed/train/epoch_plan.h"
#include "heed/train/line_summary.h"
#include "heed/train/memory_need.h"
#include "heed/train/record_files.h"
#include "heed/train/text_metrics.h"

namespace heed::train {
namespace {

// Translations that a validation shows.
constexpr std::size_t max_samples = 3;

// Lines that are translated between two calls of should_stop(); enough for full batches.
constexpr std::size_t lines_at_a_time = 256;

bool has_validation(const FilePaths& files) {
  return files.contains("valid-source") || files.contains("valid-pairs");
}

std::vector<TextMetric> metrics_of(const Recipe& recipe) {
  return parse_text_metrics(recipe.training.validation_metrics, "`validation_metrics`");
}

void check_options(const FilePaths& files, const Recipe& recipe) {
  const bool has_alignment = files.contains(TranslationTask::alignment_role);
  check_as(ErrorKind::usage, has_alignment == (recipe.model.guided_alignment > 0),
           "`guided_alignment`: expected a file and a `guided_alignment_weight` above 0, or "
           "neither, found one");
  check_as(ErrorKind::usage, files.contains("valid-source") == files.contains("valid-target"),
           "`valid_source` and `valid_target`: expected both or none, found one");
  check_as(ErrorKind::usage, !has_alignment || recipe.model.truncate_source == 0,
           "`truncate_source`: cannot be combined with `guided_alignment`");
  check_early_stopping(
      recipe.training.early_stopping, score_names(metrics_of(recipe)), has_validation(files),
      files.contains("pairs") ? "`valid_pairs`" : "`valid_source` and `valid_target`");
}

// Both sides from two files each time.
text::ParallelLines read_two_sides(const FilePaths& files, const std::string& prefix) {
  const PathList sources = files.at(prefix + "source"), targets = files.at(prefix + "target");
  check_as(ErrorKind::usage, sources.size() == targets.size(), quote(prefix + "source"), " and ",
           quote(prefix + "target"), ": expected as many files of each, found ", sources.size(),
           " and ", targets.size());
  text::ParallelLines all;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    append_pairs(all, text::read_parallel_lines(sources[i], targets[i]));
  }
  return all;
}

// Both sides, from two files or from one. `prefix` is empty or "valid-". Adds to `columns` what
// was understood.
text::ParallelLines read_pairs(const FilePaths& files, const std::string& prefix,
                               const TrainingOptions& training, std::vector<std::string>& columns) {
  if (files.contains(prefix + "source")) return read_two_sides(files, prefix);
  return read_record_pairs_of(files.at(prefix + "pairs"), data::pair_roles(), training, columns);
}

}  // namespace

TranslationTask::TranslationTask(const FilePaths& files, const Recipe& recipe)
    : recipe_(recipe),
      examples_(files.contains("source") ? "lines" : "pairs"),
      plan_(epoch_plan_options(recipe.training)) {
  check_options(files, recipe);
  lines_ = read_pairs(files, "", recipe.training, columns_);
  if (files.contains(alignment_role)) {
    links_ = read_word_links(path_of(files, alignment_role), lines_.source.size());
  }
  if (has_validation(files)) {
    validation_lines_ = read_pairs(files, "valid-", recipe.training, columns_);
  }
}

std::string TranslationTask::data_hash() const {
  io::Sha256 hash;
  hash_lines(hash, lines_.source);
  hash_lines(hash, lines_.target);
  if (links_) {
    std::vector<std::string> alignments;
    for (const auto& links : *links_) alignments.push_back(metrics::to_pharaoh(links));
    hash_lines(hash, alignments);
  }
  if (validation_lines_) {
    hash_lines(hash, validation_lines_->source);
    hash_lines(hash, validation_lines_->target);
  }
  return hash.hex_digest();
}

std::optional<DataSize> TranslationTask::data_size() const {
  return DataSize{text_size(lines_.source), text_size(lines_.target)};
}

void TranslationTask::set_recipe(const Recipe& recipe) {
  recipe_ = recipe;
  plan_ = data::EpochPlan(epoch_plan_options(recipe.training));
}

void TranslationTask::prepare(const std::string& tokenizer_folder) {
  const TrainingOptions& training = recipe_.training;
  tokenizer_ =
      tokenizer_folder.empty() ? train_tokenizer() : models::load_tokenizer(tokenizer_folder);
  corpus_.emplace(lines_.source, lines_.target, *tokenizer_,
                  data::EpochCorpusOptions{.max_length = training.max_length,
                                           .truncate = recipe_.model.truncate_source,
                                           .bpe_dropout = training.bpe_dropout,
                                           .seed = training.seed});
  if (validation_lines_) validation_ = make_validation();
  recipe_.model.vocabulary = tokenizer_->size();
  model_ = make_model<models::TranslationModel>(recipe_);
}

// Both languages share one tokenizer.
text::Tokenizer TranslationTask::train_tokenizer() const {
  std::vector<std::string> all = lines_.source;
  all.insert(all.end(), lines_.target.begin(), lines_.target.end());
  return text::Tokenizer::train(all, recipe_.tokenizer);
}

TranslationTask::Validation TranslationTask::make_validation() const {
  const text::ParallelLines& lines = *validation_lines_;
  auto corpus = data::TranslationCorpus::tokenize(
      lines.source, lines.target, *tokenizer_,
      {.max_length = recipe_.training.max_length, .truncate = recipe_.model.truncate_source});
  auto plan = data::BatchPlan::in_order(corpus.sizes(), recipe_.training.batch_tokens);
  Validation validation{{}, {}, std::move(corpus), std::move(plan)};
  for (Index pair = 0; pair < validation.corpus.size(); ++pair) {
    validation.source.push_back(lines.source[validation.corpus.line(pair)]);
    validation.target.push_back(lines.target[validation.corpus.line(pair)]);
  }
  return validation;
}

DataSummary TranslationTask::summary() const {
  DataSummary summary;
  summary.vocabulary = tokenizer_->size();
  summary.examples = "pairs";
  const data::TranslationCorpus& training = corpus_->any_epoch();
  summary.num_examples = training.size();
  summary.num_blank = training.num_blank();
  summary.num_too_long = training.num_too_long();
  summary.num_truncated = training.num_truncated();
  summary.max_length_for_99 = training.pair_lengths().percentile_99;
  summary.lengths = {length_summary("source", training.source_lengths()),
                     length_summary("target", training.target_lengths())};
  summary.columns = columns_;
  for (std::size_t i = 0; i < std::min(lines_.source.size(), max_summary_samples); ++i) {
    summary.samples.push_back({lines_.source[i], lines_.target[i]});
  }
  summary.warnings = data::check_pairs(lines_, validation_lines_ ? &*validation_lines_ : nullptr);
  if (validation_) {
    const data::TranslationCorpus& corpus = validation_->corpus;
    summary.num_valid_examples = corpus.size();
    summary.num_valid_left_out = corpus.num_blank() + corpus.num_too_long();
  }
  return summary;
}

const data::BatchPlan& TranslationTask::plan(Index epoch) {
  return plan_.of_epoch(epoch, corpus_->of_epoch(epoch).sizes());
}

std::vector<Index> TranslationTask::lines_of(Index epoch, Index number) {
  std::vector<Index> lines;
  for (const Index pair : plan(epoch).batch(number)) {
    lines.push_back(corpus_->of_epoch(epoch).line(pair));
  }
  return lines;
}

std::string TranslationTask::describe_batch(Index epoch, Index number) {
  return list_places(examples_, lines_of(epoch, number));
}

models::TranslationBatch TranslationTask::training_batch(Index epoch, Index number) {
  const data::TranslationCorpus& corpus = corpus_->of_epoch(epoch);
  models::TranslationBatch batch =
      make_batch(corpus, plan(epoch).batch(number), tokenizer_->tokens().decoder_start);
  if (links_) {
    batch.links = token_links(*links_, lines_of(epoch, number), batch, *tokenizer_);
  }
  return batch;
}

Index TranslationTask::num_validation_batches() const {
  return validation_ ? validation_->plan.size() : 0;
}

models::TranslationBatch TranslationTask::validation_batch(Index number) const {
  return make_batch(validation_->corpus, validation_->plan.batch(number),
                    tokenizer_->tokens().decoder_start);
}

bool TranslationTask::add_scores(ValidationReport& report, const ShouldStop& should_stop) const {
  std::span<const std::string> lines = validation_->source;
  const std::size_t num_samples = std::min(lines.size(), max_samples);
  const std::vector<TextMetric> metrics = metrics_of(recipe_);
  if (metrics.empty()) lines = lines.first(num_samples);
  const auto translations = translate(lines, should_stop);
  if (!translations) return false;
  if (!metrics.empty()) {
    report.scores = text_scores(metrics, *translations, validation_->target,
                                {.tokenizer = recipe_.training.tokenize});
  }
  for (std::size_t i = 0; i < num_samples; ++i) {
    report.samples.push_back({lines[i], (*translations)[i], validation_->target[i]});
  }
  return true;
}

std::optional<std::vector<std::string>> TranslationTask::translate(
    std::span<const std::string> lines, const ShouldStop& should_stop) const {
  const infer::Translator translator(*model_, *tokenizer_);
  const infer::TranslationOptions options{.search = {.beam_size = 1}, .with_scores = false};
  std::vector<std::string> translations;
  for (std::size_t begin = 0; begin < lines.size(); begin += lines_at_a_time) {
    if (should_stop()) return std::nullopt;
    const auto some = lines.subspan(begin, std::min(lines_at_a_time, lines.size() - begin));
    for (const infer::Translation& translation : translator.translate(some, options)) {
      translations.push_back(translation.text());
    }
  }
  return translations;
}

models::TranslationBatch make_batch(const data::TranslationCorpus& corpus,
                                    std::span<const Index> pairs, int start) {
  models::TranslationBatch batch;
  std::vector<std::span<const int>> sources, target_inputs;
  for (const Index pair : pairs) {
    const std::span<const int> target = corpus.target(pair);
    sources.push_back(corpus.source(pair));
    target_inputs.push_back(target.first(target.size() - 1));
    batch.target_output.insert(batch.target_output.end(), target.begin(), target.end());
  }
  batch.source = models::pack(sources);
  batch.target_input = models::pack(target_inputs, {.prepend = start});
  return batch;
}

}  // namespace heed::train
