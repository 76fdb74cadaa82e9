// A parallel corpus, English and German, from a grammar of our own: as many distinct sentence pairs
// as asked, some of which only attention can get right, with whole combinations of words held back.
//
// The split. Nouns and states (tired, soft) combine in pairs: cat + mat, cat + tired, mat + tired.
// By a hash of the seed and the two English words, 1 pair in 12 belongs to the test, 1 in 24 to the
// validation, all others to the training set. A sentence goes
//   to the test set        if it holds a pair of the test,
//   to the validation set  if it holds none of these and a pair of the validation,
//   to the training set    otherwise.
// So no training sentence, of any pattern, holds the two words of a held-back pair, while each of
// them occurs in training with other partners. Singular and plural are one word. Words with two
// senses (bat) take no part: what they mean must be learned from the pairs around them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heed/data/lexicon.h"
#include "heed/data/sentence_pattern.h"

namespace heed::data {

struct SentencePair {
  std::string source, target;
  Phenomenon phenomenon = Phenomenon::none;
  std::string expected;   // the German word that is right: "sie", "Fledermaus"; empty for none
  std::string rejected;   // the one that it could be mistaken for: "er", "Schläger"
  std::string referent;   // the English noun that a pronoun stands for: "cat"
  std::string rival;      // and the one that it could be mistaken for: "mat"
  std::string held_back;  // the pair of words that keeps it from training: "cat + mat"; else empty
  std::string pattern;    // its name in corpus/patterns.txt
};

struct GrammarCorpus {
  std::vector<SentencePair> train, valid, test;
};

struct CorpusOptions {
  std::int64_t num_pairs = 20000;  // for training; the others come on top
  std::uint64_t seed = 1;
  std::int64_t num_valid = 500;
  std::int64_t num_test = 1000;
};

struct Grammar {
  Lexicon lexicon;
  std::vector<SentencePattern> patterns;

  // Refuses, with the line's number, what the heads of the two files do not allow.
  static Grammar parse(std::string_view lexicon_text, std::string_view patterns_text);
  // The grammar of corpus/lexicon.tsv and corpus/patterns.txt, which is part of the library.
  static const Grammar& built_in();
};

// How many distinct pairs a grammar has for each set.
struct CorpusCapacity {
  std::int64_t train = 0, valid = 0;
  std::int64_t test_plain = 0, test_pronoun = 0, test_sense = 0;
};
CorpusCapacity count_pairs(const Grammar& grammar, std::uint64_t seed);

// Distinct pairs in a random order; the same for a seed on every machine. Four tenths of the test
// set are pronouns, of nouns that differ in gender, so that guessing does not pay; four tenths are
// senses. Throws Error(data) with the number that there are when more are asked for.
GrammarCorpus generate_corpus(const CorpusOptions& options);
GrammarCorpus generate_corpus(const Grammar& grammar, const CorpusOptions& options);

// Is the pronoun, or the sense, right in a translation of the pair's source? Compares whole words:
// every er, sie or es must be the expected one, and the expected noun be there without the
// rejected. True for a pair without a phenomenon.
bool translates_phenomenon(const SentencePair& pair, std::string_view hypothesis);

struct PhenomenonShares {
  std::int64_t num_pronouns = 0, num_senses = 0;
  double pronouns = 0,
         senses = 0;  // shares from 0 to 1 of those that are right; 0 if there are none
};
PhenomenonShares score_phenomena(const std::vector<SentencePair>& pairs,
                                 const std::vector<std::string>& hypotheses);

// none, pronoun, sense
std::string_view phenomenon_name(Phenomenon phenomenon);

}  // namespace heed::data
