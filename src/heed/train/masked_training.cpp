#include "heed/train/masked_training.h"

#include "heed/base/error.h"
#include "heed/train/masked_task.h"
#include "heed/train/one_text.h"

namespace heed::train {
namespace {

void check_options(const FilePaths& files, const Recipe& recipe) {
  const TrainingOptions& training = recipe.training;
  check_as(ErrorKind::usage, training.bpe_dropout == 0,
           "--bpe-dropout: expected 0 for --masked, found ", training.bpe_dropout);
  check_early_stopping(training.early_stopping, std::nullopt, files.contains("valid-masked"),
                       "--valid-masked");
}

std::unique_ptr<TrainingTask> make_task(const OneText& texts, const text::Tokenizer& tokenizer,
                                        const Recipe& recipe) {
  const TrainingOptions& training = recipe.training;
  const auto corpus = [&](const std::vector<std::string>& lines) {
    return data::LineCorpus::tokenize(lines, tokenizer, training.max_length);
  };
  std::optional<data::LineCorpus> validation;
  if (texts.validation) validation = corpus(*texts.validation);
  models::TransformerConfig config = recipe.model;
  config.vocabulary = tokenizer.size();
  return std::make_unique<MaskedTask>(training, tokenizer, corpus(texts.training),
                                      std::move(validation),
                                      models::MaskedModel(config, training.seed));
}

class MaskedMaker : public OneTextMaker {
 public:
  using OneTextMaker::OneTextMaker;

 protected:
  text::Tokenizer train_tokenizer() const override {
    text::TokenizerOptions options = recipe_.tokenizer;
    options.with_mask = true;
    return text::Tokenizer::train(text_.training, options);
  }
  std::unique_ptr<TrainingTask> make(const text::Tokenizer& tokenizer) const override {
    return make_task(text_, tokenizer, recipe_);
  }
};

std::unique_ptr<TaskMaker> make(const FilePaths& files, const Recipe& recipe) {
  check_options(files, recipe);
  return std::make_unique<MaskedMaker>(read_one_text(files, "masked"), recipe,
                                       path_of(files, "from"));
}

}  // namespace

TrainingKind masked_training() {
  return {"masked words",
          models::ModelKind::masked,
          {{"masked", "text, one sentence a line, for a model that fills gaps"},
           {"valid-masked", "held-out text, to watch the progress", false},
           from_role},
          "masked",
          make};
}

}  // namespace heed::train
