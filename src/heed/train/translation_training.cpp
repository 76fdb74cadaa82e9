#include "heed/train/translation_training.h"

#include "heed/base/error.h"
#include "heed/data/records.h"
#include "heed/text/lines.h"
#include "heed/train/hash_lines.h"
#include "heed/train/text_task_maker.h"
#include "heed/train/translation_task.h"

namespace heed::train {
namespace {

constexpr const char* links_role = "guided-alignment";

struct Texts {
  text::ParallelLines training;
  std::optional<WordLinks> links;  // of the training text
  std::optional<text::ParallelLines> validation;
};

bool has_validation(const FilePaths& files) {
  return files.contains("valid-source") || files.contains("valid-pairs");
}

Texts read_texts(const FilePaths& files, const Recipe& recipe) {
  // Both texts, from two files or from one.
  const auto read = [&](const std::string& prefix) {
    if (files.contains(prefix + "source")) {
      return text::read_parallel_lines(files.at(prefix + "source"), files.at(prefix + "target"));
    }
    return data::read_record_pairs(files.at(prefix + "pairs"),
                                   data::parse_field_names(recipe.training.fields, 2, "`fields`"));
  };
  Texts texts{read(""), {}, {}};
  if (files.contains(links_role)) {
    texts.links = read_word_links(files.at(links_role), texts.training.source.size());
  }
  if (has_validation(files)) texts.validation = read("valid-");
  return texts;
}

std::string hash_of(const Texts& texts) {
  io::Sha256 hash;
  hash_lines(hash, texts.training.source);
  hash_lines(hash, texts.training.target);
  if (texts.links) {
    std::vector<std::string> lines;
    for (const auto& links : *texts.links) lines.push_back(metrics::to_pharaoh(links));
    hash_lines(hash, lines);
  }
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

void check_options(const FilePaths& files, const Recipe& recipe) {
  check_as(ErrorKind::usage, files.contains(links_role) == (recipe.model.guided_alignment > 0),
           "--guided-alignment: expected a file and a --guided-alignment-weight above 0, or "
           "neither, found one");
  check_as(ErrorKind::usage, files.contains("valid-source") == files.contains("valid-target"),
           "--valid-source and --valid-target: expected both or none, found one");
  check_early_stopping(
      recipe.training.early_stopping, StoppingMetric::bleu, has_validation(files),
      files.contains("pairs") ? "--valid-pairs" : "--valid-source and --valid-target");
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
  return std::make_unique<TranslationTask>(training, tokenizer, std::move(corpus), texts.links,
                                           std::move(validation),
                                           models::TranslationModel(config, training.seed));
}

class TranslationMaker : public TextTaskMaker {
 public:
  TranslationMaker(Texts texts, const Recipe& recipe, const std::string& from)
      : TextTaskMaker(from), texts_(std::move(texts)), recipe_(recipe) {}

  std::string data_hash() const override { return hash_of(texts_); }

 protected:
  text::Tokenizer train_tokenizer() const override {
    return train::train_tokenizer(texts_.training, recipe_.tokenizer);
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
  return std::make_unique<TranslationMaker>(read_texts(files, recipe), recipe,
                                            path_of(files, "from"));
}

FileRole links_file() {
  return {links_role,
          "words of the training text that belong together, 0-0 1-2 a line: one head learns to "
          "look there",
          false};
}

}  // namespace

TrainingKind translation_training() {
  return {"text to text",
          models::ModelKind::translation,
          {{"source", "text to translate from, one sentence a line"},
           {"target", "its translation, line by line"},
           {"valid-source", "held-out text, to watch the progress", false},
           {"valid-target", "its translation", false},
           links_file(),
           from_role},
          "tiny",
          make};
}

TrainingKind pairs_training() {
  return {"text to text in one file",
          models::ModelKind::translation,
          {{"pairs", "records with a text and its translation: .tsv, .csv or .jsonl"},
           {"valid-pairs", "held-out pairs, to watch the progress", false},
           links_file(),
           from_role},
          "tiny",
          make};
}

}  // namespace heed::train
