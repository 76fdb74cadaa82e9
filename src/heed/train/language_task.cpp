#include "heed/train/language_task.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/infer/text_generator.h"
#include "heed/text/encode_lines.h"
#include "heed/text/lines.h"
#include "heed/train/early_stopping.h"
#include "heed/train/memory_need.h"

namespace heed::train {
namespace {

// Of the sample that a validation shows.
constexpr Index sample_tokens = 100;
constexpr double sample_temperature = 0.8;

void check_options(const FilePaths& files, const Recipe& recipe) {
  const TrainingOptions& training = recipe.training;
  check_as(ErrorKind::usage, training.bpe_dropout == 0,
           "`bpe_dropout`: expected 0 for `text`, found ", training.bpe_dropout);
  check_as(ErrorKind::usage, training.curriculum == 0,
           "`curriculum`: expected 0 for `text`, whose examples have one length, found ",
           training.curriculum);
  check_as(ErrorKind::usage, recipe.model.max_positions <= training.batch_tokens,
           "`context`: expected at most `batch_tokens`, which is ", training.batch_tokens,
           ", found ", recipe.model.max_positions);
  check_early_stopping(training.early_stopping, {}, files.contains("valid-text"), "`valid_text`");
}

// Window w begins at begin_of(w).
template <typename BeginOf>
models::LanguageBatch make_batch(const data::TextWindows& windows,
                                 const data::UniformBatches& batches, Index number,
                                 BeginOf&& begin_of) {
  models::LanguageBatch batch;
  std::vector<std::span<const int>> inputs;
  for (Index window = batches.begin(number); window < batches.end(number); ++window) {
    const Index begin = begin_of(window);
    inputs.push_back(windows.input(begin));
    const auto next = windows.next(begin);
    batch.next.insert(batch.next.end(), next.begin(), next.end());
  }
  batch.input = models::pack(inputs);
  return batch;
}

}  // namespace

LanguageTask::LanguageTask(const FilePaths& files, const Recipe& recipe) : recipe_(recipe) {
  check_options(files, recipe);
  lines_ = read_lines_of(files, "text", text::max_running_line_bytes).value();
  validation_lines_ = read_lines_of(files, "valid-text", text::max_running_line_bytes);
}

std::string LanguageTask::data_hash() const {
  io::Sha256 hash;
  hash_lines(hash, lines_);
  if (validation_lines_) hash_lines(hash, *validation_lines_);
  return hash.hex_digest();
}

std::optional<DataSize> LanguageTask::data_size() const { return DataSize{text_size(lines_), {}}; }

void LanguageTask::prepare(const std::string& tokenizer_folder) {
  tokenizer_ =
      tokenizer_folder.empty() ? train_tokenizer() : models::load_tokenizer(tokenizer_folder);
  const Index context = recipe_.model.max_positions;
  windows_.emplace(data::encode_text(lines_, *tokenizer_), context);
  if (validation_lines_) {
    validation_.emplace(data::encode_text(*validation_lines_, *tokenizer_), context);
  }
  recipe_.model.vocabulary = tokenizer_->size();
  model_ = make_model<models::LanguageModel>(recipe_);
}

text::Tokenizer LanguageTask::train_tokenizer() const {
  text::TokenizerOptions options = recipe_.tokenizer;
  options.is_running_text = true;
  return text::Tokenizer::train(lines_, options);
}

DataSummary LanguageTask::summary() const {
  DataSummary summary;
  summary.vocabulary = tokenizer_->size();
  summary.examples = "windows of " + std::to_string(windows_->length()) + " tokens";
  summary.num_examples = windows_->size();
  summary.num_valid_examples = validation_ ? validation_->size() : 0;
  return summary;
}

data::UniformBatches LanguageTask::batches(const data::TextWindows& windows) const {
  return {windows.size(), std::max<Index>(1, recipe_.training.batch_tokens / windows.length())};
}

// From 0: the line ends before this token of the text.
Index LanguageTask::line_at(Index token) const {
  const std::vector<int> line_end = text::encode_line_end(*tokenizer_);
  if (line_end.empty()) return 0;
  const std::span<const int> text = windows_->before(token);
  const auto next_end = [&](auto from) {
    return std::search(from, text.end(), line_end.begin(), line_end.end());
  };
  Index line = 0;
  for (auto at = next_end(text.begin()); at != text.end(); ++line) {
    at = next_end(at + std::ssize(line_end));
  }
  return line;
}

std::string LanguageTask::describe_batch(Index epoch, Index number) {
  const data::UniformBatches all = batches(*windows_);
  std::vector<Index> places;
  for (Index window = all.begin(number); window < all.end(number); ++window) {
    places.push_back(line_at(windows_->begin_of(window, recipe_.training.seed, epoch)));
  }
  return list_places("windows from lines", places);
}

models::LanguageBatch LanguageTask::training_batch(Index epoch, Index number) {
  return make_batch(*windows_, batches(*windows_), number, [&](Index window) {
    return windows_->begin_of(window, recipe_.training.seed, epoch);
  });
}

// Windows one after another from the beginning of the text.
models::LanguageBatch LanguageTask::validation_batch(Index number) const {
  return make_batch(*validation_, batches(*validation_), number,
                    [&](Index window) { return window * validation_->length(); });
}

bool LanguageTask::add_scores(ValidationReport& report, const ShouldStop& should_stop) const {
  const infer::GenerationOptions options{.sampling = {.temperature = sample_temperature},
                                         .seed = recipe_.training.seed,
                                         .max_tokens = sample_tokens};
  const std::string empty_prompt;
  const infer::TextGenerator generator(*model_, *tokenizer_);
  report.samples.push_back(
      {{}, generator.generate(std::span(&empty_prompt, 1), options)[0].text, {}});
  return !should_stop();
}

}  // namespace heed::train
