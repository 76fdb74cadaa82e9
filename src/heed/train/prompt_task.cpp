#include "heed/train/prompt_task.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "heed/base/error.h"
#include "heed/data/data_checks.h"
#include "heed/infer/greedy_answers.h"
#include "heed/train/early_stopping.h"
#include "heed/train/epoch_plan.h"
#include "heed/train/line_summary.h"
#include "heed/train/memory_need.h"
#include "heed/train/record_files.h"
#include "heed/train/text_metrics.h"

namespace heed::train {
namespace {

// Answers that a validation shows, and those that it computes scores of.
constexpr std::size_t max_samples = 3;
constexpr std::size_t max_scored = 200;

// Prompts that are answered between two calls of should_stop().
constexpr std::size_t prompts_at_a_time = 32;

std::vector<TextMetric> metrics_of(const Recipe& recipe) {
  return parse_text_metrics(recipe.training.validation_metrics, "`validation_metrics`");
}

void check_options(const FilePaths& files, const Recipe& recipe) {
  const TrainingOptions& training = recipe.training;
  check_as(ErrorKind::usage, training.bpe_dropout == 0,
           "`bpe_dropout`: expected 0 for `prompts`, found ", training.bpe_dropout);
  check_early_stopping(training.early_stopping, score_names(metrics_of(recipe)),
                       files.contains("valid-prompts"), "`valid_prompts`");
}

// A line end within a text is a piece of its own, as in a running text.
void append_lines(std::vector<std::string>& all, std::string_view text) {
  for (;;) {
    const std::size_t end = text.find('\n');
    all.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

void hash_pairs(io::Sha256& hash, const text::ParallelLines& pairs) {
  hash_lines(hash, pairs.source);
  hash_lines(hash, pairs.target);
}

}  // namespace

PromptTask::PromptTask(const FilePaths& files, const Recipe& recipe)
    : recipe_(recipe), plan_(epoch_plan_options(recipe.training)) {
  check_options(files, recipe);
  const auto read = [&](const std::string& role) {
    return read_record_pairs_of(files.at(role), data::prompt_roles(), recipe.training, columns_);
  };
  lines_ = read("prompts");
  if (files.contains("valid-prompts")) validation_lines_ = read("valid-prompts");
}

std::string PromptTask::data_hash() const {
  io::Sha256 hash;
  hash_pairs(hash, lines_);
  if (validation_lines_) hash_pairs(hash, *validation_lines_);
  return hash.hex_digest();
}

std::optional<DataSize> PromptTask::data_size() const {
  return DataSize{text_size(lines_.source), text_size(lines_.target)};
}

void PromptTask::set_recipe(const Recipe& recipe) {
  recipe_ = recipe;
  plan_ = data::EpochPlan(epoch_plan_options(recipe.training));
}

// The end token is predicted and not read.
Index PromptTask::max_length() const {
  return std::min(recipe_.training.max_length, recipe_.model.max_positions + 1);
}

void PromptTask::prepare(const std::string& tokenizer_folder) {
  if (tokenizer_folder.empty()) {
    tokenizer_ = train_tokenizer();
  } else {
    load_tokenizer(tokenizer_folder);
  }
  corpus_ = data::PromptCorpus::tokenize(lines_.source, lines_.target, *tokenizer_, max_length());
  if (validation_lines_) validation_ = make_validation();
  set_vocabulary(recipe_.model, *tokenizer_);
  model_ = make_model<models::LanguageModel>(recipe_);
}

// A text has the same pieces wherever it stands: after its prompt, no space is put before an
// answer.
text::Tokenizer PromptTask::train_tokenizer() const {
  std::vector<std::string> all;
  for (const std::string& prompt : lines_.source) append_lines(all, prompt);
  for (const std::string& answer : lines_.target) append_lines(all, answer);
  text::TokenizerOptions options = recipe_.tokenizer;
  options.is_running_text = true;
  return text::Tokenizer::train(all, options);
}

PromptTask::Validation PromptTask::make_validation() const {
  const text::ParallelLines& all = *validation_lines_;
  auto corpus = data::PromptCorpus::tokenize(all.source, all.target, *tokenizer_, max_length());
  auto plan = data::BatchPlan::in_order(corpus.sizes(), recipe_.training.batch_tokens);
  Validation validation{{}, std::move(corpus), std::move(plan)};
  for (Index example = 0; example < validation.corpus.size(); ++example) {
    const Index line = validation.corpus.line(example);
    validation.lines.source.push_back(all.source[line]);
    validation.lines.target.push_back(all.target[line]);
  }
  return validation;
}

DataSummary PromptTask::summary() const {
  DataSummary summary;
  summary.vocabulary = tokenizer_->size();
  summary.examples = "prompts";
  summary.num_examples = corpus_->size();
  summary.num_blank = corpus_->num_blank();
  summary.num_too_long = corpus_->num_too_long();
  const Index context = recipe_.model.max_positions;
  const Index wanted = corpus_->lengths().percentile_99;
  if (wanted <= context + 1) summary.max_length_for_99 = wanted;
  summary.lengths = {length_summary("prompt", corpus_->prompt_lengths()),
                     length_summary("answer", corpus_->answer_lengths())};
  summary.columns = columns_;
  for (std::size_t i = 0; i < std::min(lines_.source.size(), max_summary_samples); ++i) {
    summary.samples.push_back({lines_.source[i], lines_.target[i]});
  }
  summary.warnings = data::check_pairs(lines_, validation_lines_ ? &*validation_lines_ : nullptr);
  if (corpus_->num_too_long() > 0 && recipe_.training.max_length > context + 1) {
    summary.warnings.push_back("prompts whose answers end beyond the `context` of " +
                               std::to_string(context) + " tokens are left out");
  }
  if (validation_) {
    summary.num_valid_examples = validation_->corpus.size();
    summary.num_valid_left_out =
        validation_->corpus.num_blank() + validation_->corpus.num_too_long();
  }
  return summary;
}

Index PromptTask::num_batches(Index epoch) {
  return plan_.of_epoch(epoch, corpus_->sizes()).size();
}

std::string PromptTask::describe_batch(Index epoch, Index number) {
  std::vector<Index> places;
  for (const Index example : plan_.of_epoch(epoch, corpus_->sizes()).batch(number)) {
    places.push_back(corpus_->line(example));
  }
  return list_places("prompts", places);
}

models::LanguageBatch PromptTask::training_batch(Index epoch, Index number) {
  return make_batch(*corpus_, plan_.of_epoch(epoch, corpus_->sizes()).batch(number));
}

Index PromptTask::num_validation_batches() const {
  return validation_ ? validation_->plan.size() : 0;
}

models::LanguageBatch PromptTask::validation_batch(Index number) const {
  return make_batch(validation_->corpus, validation_->plan.batch(number));
}

bool PromptTask::add_scores(ValidationReport& report, const ShouldStop& should_stop) const {
  const std::vector<TextMetric> metrics = metrics_of(recipe_);
  const auto& [prompts, references] = validation_->lines;
  const std::size_t count = std::min(prompts.size(), metrics.empty() ? max_samples : max_scored);
  const auto answers = answer(count, should_stop);
  if (!answers) return false;
  report.scores = text_scores(metrics, *answers, std::span(references).first(count),
                              {.tokenizer = recipe_.training.tokenize});
  for (std::size_t i = 0; i < std::min(count, max_samples); ++i) {
    report.samples.push_back({prompts[i], (*answers)[i], references[i]});
  }
  return true;
}

// No longer than the longest of the right answers.
std::optional<std::vector<std::string>> PromptTask::answer(std::size_t count,
                                                           const ShouldStop& should_stop) const {
  const infer::TextGenerator generator(*model_, *tokenizer_);
  infer::AnswerOptions options{.max_tokens = 1};
  for (Index i = 0; i < static_cast<Index>(count); ++i) {
    options.max_tokens = std::max(options.max_tokens, validation_->corpus.answer_length(i));
  }
  const auto prompts = std::span<const std::string>(validation_->lines.source).first(count);
  std::vector<std::string> answers;
  for (std::size_t begin = 0; begin < count; begin += prompts_at_a_time) {
    if (should_stop()) return std::nullopt;
    const auto some = prompts.subspan(begin, std::min(prompts_at_a_time, count - begin));
    std::ranges::move(infer::greedy_answers(generator, some, options), std::back_inserter(answers));
  }
  return answers;
}

models::LanguageBatch make_batch(const data::PromptCorpus& corpus,
                                 std::span<const Index> examples) {
  models::LanguageBatch batch;
  std::vector<std::span<const int>> inputs;
  Index begin = 0;  // the example's first row
  for (const Index example : examples) {
    const std::span<const int> ids = corpus.ids(example);
    const Index prompt_length = corpus.prompt_length(example), length = std::ssize(ids) - 1;
    for (Index row = prompt_length - 1; row < length; ++row) {
      batch.places.push_back(begin + row);
      batch.next.push_back(ids[row + 1]);
    }
    inputs.push_back(ids.first(static_cast<std::size_t>(length)));
    begin += length;
  }
  batch.input = models::pack(inputs);
  return batch;
}

}  // namespace heed::train
