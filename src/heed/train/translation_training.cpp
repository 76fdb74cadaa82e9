#include "heed/train/translation_training.h"

#include "heed/base/error.h"
#include "heed/io/sha256.h"
#include "heed/models/model_folder.h"
#include "heed/text/lines.h"
#include "heed/train/translation_task.h"

namespace heed::train {
namespace {

struct Texts {
  text::ParallelLines training;
  std::optional<text::ParallelLines> validation;
};

Texts read_texts(const TranslationTexts& files) {
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

// The texts outlive the task.
std::unique_ptr<TrainingTask> make_task(const Texts& texts, const text::Tokenizer& tokenizer,
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
  return std::make_unique<TranslationTask>(training, tokenizer, std::move(corpus),
                                           std::move(validation),
                                           models::TranslationModel(config, training.seed));
}

class TranslationMaker : public TaskMaker {
 public:
  TranslationMaker(Texts texts, const Recipe& recipe) : texts_(std::move(texts)), recipe_(recipe) {}

  std::unique_ptr<TrainingTask> begin() const override {
    return make_task(texts_, train_tokenizer(texts_.training, recipe_.tokenizer), recipe_);
  }
  std::unique_ptr<TrainingTask> go_on(const TrainingFolder& folder) const override {
    return make_task(texts_, models::load_tokenizer(folder.model()), recipe_);
  }
  std::string data_hash() const { return hash_of(texts_); }

 private:
  Texts texts_;
  Recipe recipe_;
};

TrainingFiles training_files(const TranslationTexts& texts, std::string sha256) {
  TrainingFiles files{{{"source", texts.source}, {"target", texts.target}}, std::move(sha256)};
  if (!texts.valid_source.empty()) {
    files.paths["valid_source"] = texts.valid_source;
    files.paths["valid_target"] = texts.valid_target;
  }
  return files;
}

}  // namespace

TrainingResult train_translation(const TranslationTraining& training, TrainingObserver& observer) {
  check_training(training);
  const TrainingFolder folder(training.model_folder);
  folder.check_usable();
  const TranslationMaker maker(read_texts(training.texts), training.recipe);
  RunDescription run{{}, training.recipe, training_files(training.texts, maker.data_hash())};
  return run_training(folder, std::move(run), maker, observer);
}

TranslationTexts translation_texts(const TrainingFiles& files) {
  const auto path = [&](const char* role) {
    const auto found = files.paths.find(role);
    return found == files.paths.end() ? std::string() : found->second;
  };
  return {path("source"), path("target"), path("valid_source"), path("valid_target")};
}

}  // namespace heed::train
