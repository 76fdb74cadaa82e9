#include "heed/train/language_training.h"

#include "heed/base/error.h"
#include "heed/train/language_task.h"
#include "heed/train/one_text.h"

namespace heed::train {
namespace {

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

std::unique_ptr<TrainingTask> make_task(const OneText& texts, const text::Tokenizer& tokenizer,
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

class LanguageMaker : public OneTextMaker {
 public:
  using OneTextMaker::OneTextMaker;

 protected:
  text::Tokenizer train_tokenizer() const override {
    text::TokenizerOptions options = recipe_.tokenizer;
    options.is_running_text = true;
    return text::Tokenizer::train(text_.training, options);
  }
  std::unique_ptr<TrainingTask> make(const text::Tokenizer& tokenizer) const override {
    return make_task(text_, tokenizer, recipe_);
  }
};

std::unique_ptr<TaskMaker> make(const FilePaths& files, const Recipe& recipe) {
  check_options(files, recipe);
  return std::make_unique<LanguageMaker>(read_one_text(files, "text"), recipe,
                                         path_of(files, "from"));
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
