#include "heed/train/language_training.h"

#include "heed/base/error.h"
#include "heed/text/lines.h"
#include "heed/train/hash_lines.h"
#include "heed/train/language_task.h"
#include "heed/train/text_task_maker.h"

namespace heed::train {
namespace {

struct Texts {
  std::vector<std::string> training;
  std::optional<std::vector<std::string>> validation;
};

Texts read_texts(const FilePaths& files) {
  Texts texts{text::read_lines(files.at("text")), std::nullopt};
  if (files.contains("valid-text")) texts.validation = text::read_lines(files.at("valid-text"));
  return texts;
}

void check_options(const FilePaths& files, const Recipe& recipe) {
  const TrainingOptions& training = recipe.training;
  check_as(ErrorKind::usage, training.bpe_dropout == 0,
           "--bpe-dropout: expected 0 for --text, found ", training.bpe_dropout);
  check_as(ErrorKind::usage, recipe.model.max_positions <= training.batch_tokens,
           "--context: expected at most --batch-tokens, which is ", training.batch_tokens,
           ", found ", recipe.model.max_positions);
  check_early_stopping(training.early_stopping, std::nullopt, files.contains("valid-text"),
                       "--valid-text");
}

std::unique_ptr<TrainingTask> make_task(const Texts& texts, const text::Tokenizer& tokenizer,
                                        const Recipe& recipe) {
  models::TransformerConfig config = recipe.model;
  config.vocabulary = tokenizer.size();
  const Index context = config.max_positions;
  data::TextWindows training(data::encode_text(texts.training, tokenizer), context);
  std::optional<data::TextWindows> validation;
  if (texts.validation) {
    validation.emplace(data::encode_text(*texts.validation, tokenizer), context);
  }
  return std::make_unique<LanguageTask>(recipe.training, tokenizer, std::move(training),
                                        std::move(validation),
                                        models::LanguageModel(config, recipe.training.seed));
}

class LanguageMaker : public TextTaskMaker {
 public:
  LanguageMaker(Texts texts, const Recipe& recipe, const std::string& from)
      : TextTaskMaker(from), texts_(std::move(texts)), recipe_(recipe) {}

  std::string data_hash() const override {
    io::Sha256 hash;
    hash_lines(hash, texts_.training);
    if (texts_.validation) hash_lines(hash, *texts_.validation);
    return hash.hex_digest();
  }

 protected:
  text::Tokenizer train_tokenizer() const override {
    text::TokenizerOptions options = recipe_.tokenizer;
    options.is_running_text = true;
    return text::Tokenizer::train(texts_.training, options);
  }
  std::unique_ptr<TrainingTask> make(const text::Tokenizer& tokenizer) const override {
    return make_task(texts_, tokenizer, recipe_);
  }

 private:
  Texts texts_;
  Recipe recipe_;
};

std::unique_ptr<TaskMaker> make(const FilePaths& files, const Recipe& recipe) {
  check_options(files, recipe);
  return std::make_unique<LanguageMaker>(read_texts(files), recipe, path_of(files, "from"));
}

}  // namespace

TrainingKind language_training() {
  return {"next token",
          models::ModelKind::language,
          {{"text", "running text, for a model that writes on"},
           {"valid-text", "held-out text, to watch the progress", false},
           from_role},
          "gpt-mini",
          make};
}

}  // namespace heed::train
