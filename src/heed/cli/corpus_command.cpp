#include "heed/cli/corpus_command.h"

#include <deque>
#include <iostream>
#include <limits>
#include <memory>
#include <vector>

#include "heed/data/grammar_corpus.h"
#include "heed/io/files.h"
#include "heed/io/rollback.h"

namespace heed::cli {
namespace {

// Files of one folder that appear together: nothing is in place before everything is written.
class FileSet {
 public:
  explicit FileSet(std::string folder) : folder_(std::move(folder)) {
    made_.create_folder(folder_);
  }

  io::AtomicFile& add(const std::string& name) {
    made_.add_file(folder_ + '/' + name);
    return files_.emplace_back(folder_ + '/' + name);
  }
  void commit() {
    for (io::AtomicFile& file : files_) file.commit();
    made_.keep();
  }

 private:
  std::string folder_;
  io::Rollback made_;
  std::deque<io::AtomicFile> files_;  // a deque, because open files cannot be moved
};

void write_sentences(FileSet& files, const std::string& name,
                     const std::vector<data::SentencePair>& pairs) {
  io::AtomicFile& english = files.add(name + ".en");
  io::AtomicFile& german = files.add(name + ".de");
  for (const data::SentencePair& pair : pairs) {
    english.write(pair.source + '\n');
    german.write(pair.target + '\n');
  }
}

void write_labels(FileSet& files, const std::vector<data::SentencePair>& pairs) {
  io::AtomicFile& labels = files.add("test.tsv");
  for (const data::SentencePair& pair : pairs) {
    labels.write(std::string(data::phenomenon_name(pair.phenomenon)) + '\t' + pair.expected + '\t' +
                 pair.rejected + '\t' + pair.held_back + '\t' + pair.pattern + '\n');
  }
}

}  // namespace

int corpus(const CorpusCommandOptions& options, std::ostream& log) {
  const data::GrammarCorpus corpus = data::generate_corpus({.num_pairs = options.pairs,
                                                            .seed = options.seed,
                                                            .num_valid = options.valid_pairs,
                                                            .num_test = options.test_pairs});
  FileSet files(options.output);
  write_sentences(files, "train", corpus.train);
  write_sentences(files, "valid", corpus.valid);
  write_sentences(files, "test", corpus.test);
  write_labels(files, corpus.test);
  files.commit();
  log << options.output << ": " << corpus.train.size() << " training, " << corpus.valid.size()
      << " validation and " << corpus.test.size() << " test pairs\n";
  return 0;
}

Command corpus_command() {
  auto options = std::make_shared<CorpusCommandOptions>();
  Command command("corpus",
                  "Write the built-in English-German corpus to files.\n"
                  "train, valid and test, each .en and .de, and test.tsv: for each test line none, "
                  "pronoun or sense; the\n"
                  "right German word; the wrong one; two words that training never shows together; "
                  "the pattern.",
                  "heed corpus --pairs 20000 --seed 1 --output corpus");
  command.group(option_group::output);
  command.option("--output", options->output, "folder for the files")
      ->required()
      ->type_name("FOLDER");
  command.group("Size");
  constexpr Index max_pairs = 1'000'000'000;
  command.number("--pairs", options->pairs, {0, max_pairs}, "distinct training pairs");
  command.number("--valid-pairs", options->valid_pairs, {0, max_pairs},
                 "validation pairs, with word combinations that training never shows");
  command.number("--test-pairs", options->test_pairs, {0, max_pairs},
                 "test pairs, with word combinations that training never shows");
  command.number("--seed", options->seed, {0, std::numeric_limits<std::uint64_t>::max()},
                 "random seed of the corpus");
  command.run([options] { return corpus(*options, std::cerr); });
  return command;
}

}  // namespace heed::cli
