#include "heed/cli/demo_command.h"

#include <errno.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/cli/word_attention_table.h"
#include "heed/data/grammar_corpus.h"
#include "heed/infer/translator.h"
#include "heed/metrics/bleu.h"
#include "heed/train/recipe_fields.h"
#include "heed/train/training.h"

namespace heed::cli {
namespace {

constexpr std::size_t samples_of_each_kind = 2;

// The same pairs that the corpus command writes to files, with their labels for the evaluation.
std::vector<data::SentencePair> test_pairs(const CorpusCommandOptions& options) {
  return data::generate_corpus({.num_pairs = options.pairs,
                                .seed = options.seed,
                                .num_valid = options.valid_pairs,
                                .num_test = options.test_pairs})
      .test;
}

// A folder that holds anything else was not made by the demo.
void check_folder(const std::string& folder) {
  static const std::set<std::string> ours{"corpus", "model"};
  if (!std::filesystem::exists(folder)) return;
  check_as(ErrorKind::usage, std::filesystem::is_directory(folder), folder,
           ": expected a folder for the demo, found a file");
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    check_as(ErrorKind::usage, ours.contains(name), folder,
             ": expected a new folder or one of an earlier demo, found ", name, " in it");
  }
}

train::Training demo_training(const DemoOptions& options) {
  train::Training training;
  training.recipe = train::recipe_preset("demo");
  training.recipe.training.keep = 12;  // for the explorer's view of how the model learned
  train::set_fields(training.recipe, options.settings);
  const std::string corpus = options.folder + "/corpus";
  training.model_folder = options.folder + "/model";
  training.files = {{"source", corpus + "/train.en"},
                    {"target", corpus + "/train.de"},
                    {"valid-source", corpus + "/valid.en"},
                    {"valid-target", corpus + "/valid.de"}};
  return training;
}

std::vector<std::string> translate_all(const infer::Translator& translator,
                                       const std::vector<data::SentencePair>& pairs) {
  std::vector<std::string> sources;
  for (const data::SentencePair& pair : pairs) sources.push_back(pair.source);
  std::vector<std::string> translations;
  for (const auto& translation : translator.translate(sources)) {
    translations.push_back(translation.text());
  }
  return translations;
}

void print_samples(std::ostream& out, const std::vector<data::SentencePair>& pairs,
                   const std::vector<std::string>& translations) {
  using data::Phenomenon;
  out << "Held-out sentences: word pairs that training never showed together\n";
  for (const auto kind : {Phenomenon::pronoun, Phenomenon::sense, Phenomenon::none}) {
    std::size_t shown = 0;
    for (std::size_t i = 0; i < pairs.size() && shown < samples_of_each_kind; ++i) {
      if (pairs[i].phenomenon != kind) continue;
      out << "  " << pairs[i].source << "\n    " << translations[i]
          << (translations[i] == pairs[i].target ? "" : "   (expected: " + pairs[i].target + ")")
          << '\n';
      ++shown;
    }
  }
}

void print_figures(std::ostream& out, const std::vector<data::SentencePair>& pairs,
                   const std::vector<std::string>& translations) {
  std::vector<std::string> references;
  for (const data::SentencePair& pair : pairs) references.push_back(pair.target);
  const data::PhenomenonShares shares = data::score_phenomena(pairs, translations);
  out << fmt::format("\nBLEU {:.1f}\npronouns {:.1f}%\nsenses {:.1f}%\n",
                     metrics::corpus_bleu(translations, references).score, shares.pronouns * 100,
                     shares.senses * 100);
}

// The first test sentence with a pronoun: not the prettiest, so that nothing is picked.
void print_attention(std::ostream& out, const infer::Translator& translator,
                     const std::vector<data::SentencePair>& pairs,
                     const std::vector<std::string>& translations) {
  const auto is_pronoun = [](const data::SentencePair& pair) {
    return pair.phenomenon == data::Phenomenon::pronoun;
  };
  const auto pair = std::ranges::find_if(pairs, is_pronoun);
  if (pair == pairs.end()) return;
  const auto attention =
      infer::encoder_attention_from(translator.model(), translator.tokenizer(), pair->source, "it");
  out << fmt::format(
      "\nAttention from \"it\" in the encoder: a column for each head, as layer.head\n"
      "  {}\n  {}\n",
      pair->source, translations[pair - pairs.begin()]);
  print_table(out, attention);
}

}  // namespace

int demo(const DemoOptions& options, const ProgressOptions& progress_options, std::ostream& out,
         std::ostream& log) {
  const InterruptGuard guard;
  check_folder(options.folder);
  CorpusCommandOptions corpus_files = options.corpus;
  corpus_files.output = options.folder + "/corpus";
  corpus(corpus_files, log);

  TrainingProgress progress(log, progress_options);
  const train::Training training = demo_training(options);
  const train::TrainingResult result = train::train_model(training, progress);
  if (result.end == train::RunEnd::interrupted) {
    log << interruption_text(result) << '\n';
    return 128 + interrupt_signal();
  }

  const auto translator = infer::Translator::load(training.model_folder);
  const std::vector<data::SentencePair> pairs = test_pairs(options.corpus);
  const std::vector<std::string> translations = translate_all(translator, pairs);
  print_samples(out, pairs, translations);
  print_figures(out, pairs, translations);
  print_attention(out, translator, pairs, translations);
  const std::string program = program_invocation_name;  // as it was called here
  out << "\nTo translate more:\n  " << program << " translate --model " << training.model_folder
      << "\nTo look inside it, in your browser:\n  " << program << " explore --open --model "
      << training.model_folder << std::endl;
  return 0;
}

Command demo_command() {
  auto options = std::make_shared<DemoOptions>();
  auto progress = std::make_shared<ProgressOptions>();
  Command command("demo", "Train a small translator on the built-in corpus and try it.",
                  "heed demo --dir demo");
  command.option("--dir", options->folder, "folder for the corpus and the model")
      ->type_name("FOLDER");
  command.flag("--quiet", progress->quiet, "print no progress");
  command.accept_threads();
  command.run([options, progress] {
    progress->is_terminal = ::isatty(STDERR_FILENO) != 0;
    return demo(*options, *progress, std::cout, std::cerr);
  });
  return command;
}

}  // namespace heed::cli
