#include "heed/train/translation_training.h"

#include <filesystem>

#include "heed/base/error.h"
#include "heed/io/files.h"
#include "heed/io/sha256.h"
#include "heed/models/model_folder.h"
#include "heed/text/lines.h"
#include "heed/train/trainer.h"
#include "heed/train/translation_task.h"

namespace heed::train {
namespace {

struct Texts {
  text::ParallelLines training;
  std::optional<text::ParallelLines> validation;
};

Texts read_texts(const TrainingTexts& files) {
  Texts texts{text::read_parallel_lines(files.source, files.target), std::nullopt};
  if (!files.valid_source.empty()) {
    texts.validation = text::read_parallel_lines(files.valid_source, files.valid_target);
  }
  return texts;
}

void hash_lines(io::Sha256& hash, const std::vector<std::string>& lines) {
  hash.update(std::to_string(lines.size()) + '\n');
  for (const std::string& line : lines) hash.update(line + '\n');
}

std::string hash_of(const Texts& texts) {
  io::Sha256 hash;
  hash_lines(hash, texts.training.source);
  hash_lines(hash, texts.training.target);
  if (texts.validation) {
    hash_lines(hash, texts.validation->source);
    hash_lines(hash, texts.validation->target);
  }
  return hash.hex_digest();
}

// Source and target lines share one tokenizer.
text::Tokenizer train_tokenizer(const text::ParallelLines& lines,
                                const text::TokenizerOptions& options) {
  std::vector<std::string> all = lines.source;
  all.insert(all.end(), lines.target.begin(), lines.target.end());
  return text::Tokenizer::train(all, options);
}

ValidationData validation_data(const text::ParallelLines& lines, const text::Tokenizer& tokenizer,
                               Index max_length) {
  ValidationData data{{},
                      {},
                      data::TranslationCorpus::tokenize(lines.source, lines.target, tokenizer,
                                                        {.max_length = max_length})};
  for (Index pair = 0; pair < data.corpus.size(); ++pair) {
    data.source.push_back(lines.source[data.corpus.line(pair)]);
    data.target.push_back(lines.target[data.corpus.line(pair)]);
  }
  return data;
}

void check_training(const TranslationTraining& training) {
  validate(training.recipe);
  const bool has_validation = !training.texts.valid_source.empty();
  check_as(ErrorKind::usage, has_validation == !training.texts.valid_target.empty(),
           "--valid-source and --valid-target: expected both or none, found one");
  check_as(ErrorKind::usage,
           has_validation || training.recipe.training.early_stopping == StoppingMetric::none,
           "--early-stopping: expected --valid-source and --valid-target, found none");
}

void check_same_run(const RunDescription& begun, const RunDescription& asked) {
  check_same_recipe(begun.recipe, asked.recipe);
  check_as(ErrorKind::usage, begun.texts.sha256 == asked.texts.sha256,
           "--source, --target, --valid-source, --valid-target: expected the text with which this "
           "run was begun, found another");
}

// Makes the folder, and takes it away again if the run ends before its first checkpoint.
class NewFolder {
 public:
  explicit NewFolder(const TrainingFolder& folder)
      : folder_(folder), was_there_(std::filesystem::exists(folder.model())) {
    folder.create();
  }
  ~NewFolder() {
    std::error_code ignored;
    if (!was_there_ && !folder_.has_checkpoint()) {
      std::filesystem::remove_all(folder_.model(), ignored);
    }
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

 private:
  TrainingFolder folder_;
  bool was_there_;
};

std::string folder_hash(const TrainingFolder& folder) {
  return models::weights_hash(models::parameters(models::load_model(folder.model())));
}

bool has_nothing_left(const RunDescription& run) {
  const TrainingState& state = run.state;
  EarlyStopping stopping(run.recipe.training.early_stopping, run.recipe.training.patience);
  stopping.state = state.stopping;
  return state.is_finished &&
         (stopping.is_exhausted() ||
          is_reached(run.recipe.training.after, {state.epoch, state.update, state.seconds}));
}

// Everything that exists before the folder does. The texts outlive it.
TranslationTask make_task(const Texts& texts, const text::Tokenizer& tokenizer,
                          const Recipe& recipe) {
  const TrainingOptions& training = recipe.training;
  data::EpochCorpus corpus(texts.training.source, texts.training.target, tokenizer,
                           {.max_length = training.max_length,
                            .bpe_dropout = training.bpe_dropout,
                            .seed = training.seed});
  std::optional<ValidationData> validation;
  if (texts.validation) {
    validation = validation_data(*texts.validation, tokenizer, training.max_length);
  }
  models::TransformerConfig config = recipe.model;
  config.vocabulary = tokenizer.size();
  return {training, tokenizer, std::move(corpus), std::move(validation),
          models::TranslationModel(config, training.seed)};
}

TrainingResult run_trainer(TranslationTask& task, const TrainingFolder& folder,
                           const RunDescription& run, std::optional<Checkpoint> checkpoint,
                           TrainingObserver& observer) {
  observer.on_start(task.run_start(run.state.epoch, run.state.update));
  Trainer trainer(task, folder, run, checkpoint ? &*checkpoint : nullptr, observer);
  checkpoint.reset();  // as large as the model and its moments
  TrainingResult result;
  result.end = trainer.run();
  result.update = trainer.state().update;
  if (result.end != RunEnd::interrupted) result.weights_hash = folder_hash(folder);
  return result;
}

TrainingResult begin_run(const Texts& texts, const TrainingFolder& folder,
                         const RunDescription& run, TrainingObserver& observer) {
  TranslationTask task =
      make_task(texts, train_tokenizer(texts.training, run.recipe.tokenizer), run.recipe);
  if (observer.should_stop()) return {.end = RunEnd::interrupted, .weights_hash = {}};
  NewFolder new_folder(folder);
  const TrainingLock lock(folder);
  io::write_file_atomically(folder.tokenizer(), task.tokenizer().bytes());
  return run_trainer(task, folder, run, std::nullopt, observer);
}

TrainingResult go_on(const Texts& texts, const TrainingFolder& folder, RunDescription run,
                     TrainingObserver& observer) {
  const TrainingLock lock(folder);
  io::remove_abandoned_writes(folder.training());
  Checkpoint checkpoint = Checkpoint::load(folder.checkpoint());
  check_same_run(checkpoint.run(), run);
  run.state = checkpoint.run().state;
  if (has_nothing_left(run)) {
    return {RunEnd::finished, run.state.update, /*was_finished=*/true, folder_hash(folder)};
  }
  TranslationTask task = make_task(texts, models::load_tokenizer(folder.model()), run.recipe);
  return run_trainer(task, folder, run, std::move(checkpoint), observer);
}

}  // namespace

TrainingResult train_translation(const TranslationTraining& training, TrainingObserver& observer) {
  check_training(training);
  const TrainingFolder folder(training.model_folder);
  folder.check_usable();
  const Texts texts = read_texts(training.texts);
  RunDescription run{{}, training.recipe, training.texts};
  run.texts.sha256 = hash_of(texts);
  if (folder.has_checkpoint()) return go_on(texts, folder, std::move(run), observer);
  return begin_run(texts, folder, run, observer);
}

std::optional<RunDescription> begun_run(const std::string& model_folder) {
  const TrainingFolder folder(model_folder);
  if (!folder.has_checkpoint()) return std::nullopt;
  return Checkpoint::load(folder.checkpoint()).run();
}

}  // namespace heed::train
