#include "heed/cli/demo_command.h"

#include <errno.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <set>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/cli/line_editor.h"
#include "heed/cli/one_line.h"
#include "heed/cli/word_attention_table.h"
#include "heed/data/grammar_corpus.h"
#include "heed/data/known_words.h"
#include "heed/infer/translator.h"
#include "heed/metrics/bleu.h"
#include "heed/train/recipe_fields.h"
#include "heed/train/training.h"

namespace heed::cli {
namespace {

constexpr std::size_t samples_of_each_kind = 2;

// The same pairs that the corpus command writes to files, with their labels for the evaluation.
data::GrammarCorpus demo_corpus(const CorpusCommandOptions& options) {
  return data::generate_corpus({.num_pairs = options.pairs,
                                .seed = options.seed,
                                .num_valid = options.valid_pairs,
                                .num_test = options.test_pairs});
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
  std::ranges::transform(pairs, std::back_inserter(sources), &data::SentencePair::source);
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
  std::ranges::transform(pairs, std::back_inserter(references), &data::SentencePair::target);
  const data::PhenomenonShares shares = data::score_phenomena(pairs, translations);
  out << fmt::format("\nBLEU {:.1f}\npronouns {:.1f}%\nsenses {:.1f}%\n",
                     metrics::corpus_bleu(translations, references).score, shares.pronouns * 100,
                     shares.senses * 100);
}

// What every newcomer types, and one word that the corpus does not have.
constexpr const char* examples[] = {
    "The cat sleeps.",
    "The bat flew out of the cave.",
    "The dog ran into the house.",
    "The cat did not cross the street because it was tired.",
    "The animal didn't cross the street because it was too wide.",
    "The elephant sleeps.",
};

data::KnownWords known_words(const std::vector<data::SentencePair>& pairs) {
  data::KnownWords known;
  for (const data::SentencePair& pair : pairs) known.add(pair.source);
  return known;
}

void print_translation(std::ostream& out, const infer::Translator& translator,
                       const data::KnownWords& known, const std::string& sentence) {
  out << "    " << on_one_line(translator.translate(sentence)) << '\n';
  const std::vector<std::string> unknown = known.unknown_in(sentence);
  if (!unknown.empty()) out << fmt::format("    does not know: {}\n", fmt::join(unknown, ", "));
}

std::size_t num_words(data::WordKind kind) {
  std::set<std::string> words;
  for (const data::Word& word : data::Grammar::built_in().lexicon.words()) {
    if (word.kind == kind) words.insert(word.english);
  }
  return words.size();
}

void print_knowledge(std::ostream& out, const infer::Translator& translator,
                     const data::KnownWords& known) {
  out << fmt::format("\nIt knows {} nouns and {} verbs in {} sentence patterns, such as these:\n",
                     num_words(data::WordKind::noun), num_words(data::WordKind::verb),
                     data::Grammar::built_in().patterns.size());
  for (const char* example : examples) {
    out << "  " << example << '\n';
    print_translation(out, translator, known, example);
  }
}

// How the decoder finds what "it" is, in each sentence with a pronoun.
struct PronounRows {
  std::vector<const data::SentencePair*> pairs;
  std::vector<infer::WordAttention> attention;
  std::vector<std::vector<bool>> hits;  // [sentence][head]: the right noun has the largest weight
};

PronounRows pronoun_rows(const infer::Translator& translator,
                         const std::vector<data::SentencePair>& pairs) {
  PronounRows rows;
  for (const data::SentencePair& pair : pairs) {
    if (pair.phenomenon != data::Phenomenon::pronoun) continue;
    rows.pairs.push_back(&pair);
    rows.attention.push_back(infer::attention_predicting(translator.model(), translator.tokenizer(),
                                                         pair.source, pair.target, pair.expected));
    rows.hits.push_back(infer::maxima_on(rows.attention.back(), pair.referent));
  }
  return rows;
}

// Of the largest weight being on one certain word.
double chance(const PronounRows& rows) {
  double sum = 0;
  for (const infer::WordAttention& row : rows.attention) {
    sum += 1 / static_cast<double>(row.words.size());
  }
  return sum / static_cast<double>(rows.attention.size());
}

void print_attention(std::ostream& out, const infer::Translator& translator,
                     const std::vector<data::SentencePair>& pairs) {
  const PronounRows rows = pronoun_rows(translator, pairs);
  const std::size_t half = rows.hits.size() / 2;
  if (half == 0) return;
  const infer::MeasuredHead best = infer::measure_best_head(rows.hits);
  out << fmt::format(
      "\nWhat \"it\" is: the decoder's attention when it predicts er, sie or es\n"
      "  Head {} (layer.head) is the best of {} on {} held-out sentences.\n"
      "  On {} others its largest weight is on the right noun in {:.1f}%; chance, one of the "
      "sentence's words, is {:.1f}%.\n",
      rows.attention[0].heads[best.head], rows.attention[0].heads.size(), half,
      rows.hits.size() - half, best.share * 100, chance(rows) * 100);
  for (std::size_t i = half; i < rows.hits.size(); ++i) {
    if (!rows.hits[i][best.head]) continue;
    out << fmt::format("  One of these:\n  {}\n  {}\n", rows.pairs[i]->source,
                       rows.pairs[i]->target);
    return print_row(out, rows.attention[i], best.head, rows.pairs[i]->expected);
  }
}

void translate_typed(const DemoOptions& options, std::ostream& out, std::ostream& log,
                     const infer::Translator& translator, const data::KnownWords& known) {
  if (!options.next_sentence) return;
  out << "\nType English sentences; Ctrl-D ends:" << std::endl;
  while (const std::optional<std::string> sentence = options.next_sentence()) {
    try {
      print_translation(out, translator, known, *sentence);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::data) throw;
      log << "heed: " << error.what() << std::endl;  // the next sentence may be shorter
    }
  }
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
  const data::GrammarCorpus pairs = demo_corpus(options.corpus);
  const data::KnownWords known = known_words(pairs.train);
  const std::vector<std::string> translations = translate_all(translator, pairs.test);
  print_samples(out, pairs.test, translations);
  print_figures(out, pairs.test, translations);
  print_knowledge(out, translator, known);
  print_attention(out, translator, pairs.test);
  const std::string program = program_invocation_name;  // as it was called here
  out << "\nTo translate more:\n  " << program << " translate --model " << training.model_folder
      << "\nTo look inside it, in your browser:\n  " << program << " explore --open --model "
      << training.model_folder << std::endl;
  translate_typed(options, out, log, translator, known);
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
    if (::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0) {
      auto lines = std::make_shared<LineEditor>("> ");
      options->next_sentence = [lines] { return lines->next(); };
    }
    return demo(*options, *progress, std::cout, std::cerr);
  });
  return command;
}

}  // namespace heed::cli
