#include "heed/data/grammar_corpus.h"

#include <algorithm>
#include <array>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/data/shuffled_range.h"

namespace heed::data {

namespace embedded {
std::string_view corpus_lexicon();
std::string_view corpus_patterns();
}  // namespace embedded

namespace {

enum class Split : std::uint8_t { train, valid, test };

// FNV-1a: the same for a text on every machine.
std::uint64_t hash_text(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

// Which set each pair of nouns and states belongs to.
class PairSplit {
 public:
  PairSplit(const Lexicon& lexicon, std::uint64_t seed) : num_words_(lexicon.words().size()) {
    std::vector<std::uint64_t> hashes;
    for (std::size_t i = 0; i < num_words_; ++i) {
      const Word& word = lexicon.word(static_cast<int>(i));
      hashes.push_back(hash_text(word.english));
      takes_part_.push_back((word.kind == WordKind::noun || word.kind == WordKind::state) &&
                            lexicon.other_sense(static_cast<int>(i)) < 0);
    }
    splits_.resize(num_words_ * num_words_, Split::train);
    for (std::size_t a = 0; a < num_words_; ++a) {
      for (std::size_t b = 0; b < num_words_; ++b) {
        if (!takes_part_[a] || !takes_part_[b] || a == b) continue;
        const auto [low, high] = std::minmax(hashes[a], hashes[b]);
        splits_[a * num_words_ + b] = draw(random_key(seed, low, high));
      }
    }
  }

  bool takes_part(int word) const { return takes_part_[static_cast<std::size_t>(word)]; }
  Split operator()(int a, int b) const {
    return splits_[static_cast<std::size_t>(a) * num_words_ + static_cast<std::size_t>(b)];
  }

 private:
  static Split draw(std::uint64_t hash) {
    const std::uint64_t part = hash % 24;
    return part < 2 ? Split::test : part == 2 ? Split::valid : Split::train;
  }

  std::size_t num_words_;
  std::vector<bool> takes_part_;
  std::vector<Split> splits_;
};

// The strictest pair of a sentence decides where it goes.
struct Placement {
  Split split = Split::train;
  int first = no_word, second = no_word;  // the pair that decided, unless it is training
};

Placement place(const Choice& choice, const PairSplit& pair_split) {
  Placement placement;
  for (std::size_t i = 0; i < choice.size(); ++i) {
    if (choice[i] == no_word || !pair_split.takes_part(choice[i])) continue;
    for (std::size_t j = i + 1; j < choice.size(); ++j) {
      if (choice[j] == no_word) continue;
      const Split split = pair_split(choice[i], choice[j]);
      if (split > placement.split) placement = {split, choice[i], choice[j]};
    }
  }
  return placement;
}

// A pronoun that both nouns share says nothing about attention, so it is not tested.
bool is_decided_by_gender(const SentencePattern& pattern, const Choice& choice,
                          const Lexicon& lexicon) {
  return lexicon.word(choice[pattern.labelled_slot()]).noun.gender !=
         lexicon.word(choice[pattern.rival_slot()]).noun.gender;
}

bool is_fit_for_test(const SentencePattern& pattern, const Choice& choice, const Lexicon& lexicon) {
  return pattern.phenomenon() != Phenomenon::pronoun ||
         is_decided_by_gender(pattern, choice, lexicon);
}

SentencePair make_pair(const SentencePattern& pattern, const Choice& choice,
                       const Placement& placement, const Lexicon& lexicon) {
  SentencePair pair;
  pair.source = pattern.english(choice, lexicon);
  pair.target = pattern.german(choice, lexicon);
  pair.phenomenon = pattern.phenomenon();
  pair.pattern = pattern.name();
  if (placement.split != Split::train) {
    pair.held_back =
        lexicon.word(placement.first).english + " + " + lexicon.word(placement.second).english;
  }
  if (pattern.phenomenon() == Phenomenon::none) return pair;
  const int slot = pattern.labelled_slot();
  const int labelled = choice[slot], rival = choice[pattern.rival_slot()];
  if (pattern.phenomenon() == Phenomenon::pronoun) {
    pair.referent = lexicon.word(labelled).english;
    pair.rival = lexicon.word(rival).english;
    pair.expected = german_pronoun(lexicon.word(labelled).noun.gender, Case::nominative);
    pair.rejected = german_pronoun(lexicon.word(rival).noun.gender, Case::nominative);
  } else {
    pair.expected = pattern.german_noun_of(slot, labelled, lexicon);
    pair.rejected = pattern.german_noun_of(slot, lexicon.other_sense(labelled), lexicon);
  }
  return pair;
}

// The sentences of a grammar, each once, in a random order that follows the patterns' weights.
class SentenceStream {
 public:
  SentenceStream(const Grammar& grammar, std::uint64_t seed) : seed_(seed) {
    for (const SentencePattern& pattern : grammar.patterns) {
      const auto size = static_cast<std::uint64_t>(pattern.num_choices());
      sources_.push_back({&pattern, {size, random_key(seed, hash_text(pattern.name()), 0)}, 0});
      total_weight_ += static_cast<std::uint64_t>(pattern.weight());
    }
  }

  // The next sentence's pattern, and its words in `choice`; null when every sentence has been
  // drawn.
  const SentencePattern* next(Choice& choice) {
    while (!sources_.empty()) {
      const auto source = pick();
      while (source->position < source->numbers.size()) {
        const auto number = static_cast<std::int64_t>(source->numbers[source->position++]);
        if (source->pattern->choose(number, choice)) return source->pattern;
      }
      total_weight_ -= static_cast<std::uint64_t>(source->pattern->weight());
      sources_.erase(source);
    }
    return nullptr;
  }

 private:
  struct Source {
    const SentencePattern* pattern;
    ShuffledRange numbers;
    std::uint64_t position;
  };

  std::vector<Source>::iterator pick() {
    std::uint64_t at = random_bits(seed_, num_picks_++) % total_weight_;
    auto source = sources_.begin();
    for (;; ++source) {
      const auto weight = static_cast<std::uint64_t>(source->pattern->weight());
      if (at < weight) return source;
      at -= weight;
    }
  }

  std::uint64_t seed_, total_weight_ = 0, num_picks_ = 0;
  std::vector<Source> sources_;
};

// What can be asked for: training, validation, and the phenomena of the test, each with its number.
constexpr int num_parts = 5;
using PartSizes = std::array<std::int64_t, num_parts>;

int part_of(Split split, Phenomenon phenomenon) {
  return split == Split::test ? 2 + static_cast<int>(phenomenon) : static_cast<int>(split);
}

PartSizes wanted_sizes(const CorpusOptions& options) {
  const std::int64_t share = options.num_test * 4 / 10;
  PartSizes sizes{options.num_pairs, options.num_valid};
  sizes[part_of(Split::test, Phenomenon::none)] = options.num_test - 2 * share;
  sizes[part_of(Split::test, Phenomenon::pronoun)] = share;
  sizes[part_of(Split::test, Phenomenon::sense)] = share;
  return sizes;
}

void check_capacity(const Grammar& grammar, const CorpusOptions& options) {
  const CorpusCapacity capacity = count_pairs(grammar, options.seed);
  const PartSizes available = {capacity.train, capacity.valid, capacity.test_plain,
                               capacity.test_pronoun, capacity.test_sense};
  static constexpr std::array<const char*, num_parts> names = {
      "training pairs", "validation pairs", "plain test pairs", "test pairs with a pronoun",
      "test pairs with a word of two senses"};
  const PartSizes wanted = wanted_sizes(options);
  for (int part = 0; part < num_parts; ++part) {
    check_as(ErrorKind::data, wanted[part] <= available[part], "corpus: ", wanted[part], " ",
             names[part], " asked for, the grammar has ", available[part]);
  }
}

// The words of a text without punctuation. Bytes beyond ASCII are letters: ä, ö, ü and ß.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    const bool is_letter =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
    if (is_letter) {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  return words;
}

bool has_only_pronoun(const std::vector<std::string>& words, const std::string& expected) {
  bool is_found = false;
  for (std::string word : words) {
    if (word == "Er" || word == "Sie" || word == "Es") word[0] += 'a' - 'A';
    if (word != "er" && word != "sie" && word != "es") continue;
    if (word != expected) return false;
    is_found = true;
  }
  return is_found;
}

}  // namespace

Grammar Grammar::parse(std::string_view lexicon_text, std::string_view patterns_text) {
  Grammar grammar{.lexicon = Lexicon::parse(lexicon_text), .patterns = {}};
  grammar.patterns = SentencePattern::parse(patterns_text, grammar.lexicon);
  return grammar;
}

const Grammar& Grammar::built_in() {
  static const Grammar grammar = parse(embedded::corpus_lexicon(), embedded::corpus_patterns());
  return grammar;
}

CorpusCapacity count_pairs(const Grammar& grammar, std::uint64_t seed) {
  const PairSplit pair_split(grammar.lexicon, seed);
  PartSizes sizes{};
  Choice choice;
  for (const SentencePattern& pattern : grammar.patterns) {
    for (std::int64_t number = 0; number < pattern.num_choices(); ++number) {
      if (!pattern.choose(number, choice)) continue;
      const Split split = place(choice, pair_split).split;
      if (split == Split::test && !is_fit_for_test(pattern, choice, grammar.lexicon)) continue;
      ++sizes[part_of(split, pattern.phenomenon())];
    }
  }
  return {sizes[0], sizes[1], sizes[2], sizes[3], sizes[4]};
}

GrammarCorpus generate_corpus(const CorpusOptions& options) {
  return generate_corpus(Grammar::built_in(), options);
}

GrammarCorpus generate_corpus(const Grammar& grammar, const CorpusOptions& options) {
  check_as(ErrorKind::usage,
           options.num_pairs >= 0 && options.num_valid >= 0 && options.num_test >= 0,
           "corpus: expected numbers of pairs that are not negative, got ", options.num_pairs, ", ",
           options.num_valid, " and ", options.num_test);
  // Counting takes as long as generating some ten thousand pairs: only worth it for large requests,
  // which would fill the memory before they fail.
  constexpr std::int64_t large = 200'000;
  if (std::max({options.num_pairs, options.num_valid, options.num_test}) > large) {
    check_capacity(grammar, options);
  }

  const PairSplit pair_split(grammar.lexicon, options.seed);
  SentenceStream sentences(grammar, options.seed);
  PartSizes left = wanted_sizes(options);
  GrammarCorpus corpus;
  Choice choice;
  while (left != PartSizes{}) {
    const SentencePattern* pattern = sentences.next(choice);
    if (!pattern) check_capacity(grammar, options);  // throws: the stream holds all that it counts
    const Placement placement = place(choice, pair_split);
    const bool is_test = placement.split == Split::test;
    if (is_test && !is_fit_for_test(*pattern, choice, grammar.lexicon)) continue;
    std::int64_t& part_left = left[part_of(placement.split, pattern->phenomenon())];
    if (part_left == 0) continue;
    --part_left;
    std::vector<SentencePair>& set = is_test                           ? corpus.test
                                     : placement.split == Split::valid ? corpus.valid
                                                                       : corpus.train;
    set.push_back(make_pair(*pattern, choice, placement, grammar.lexicon));
  }
  return corpus;
}

bool translates_phenomenon(const SentencePair& pair, std::string_view hypothesis) {
  if (pair.phenomenon == Phenomenon::none) return true;
  const std::vector<std::string> words = words_of(hypothesis);
  if (pair.phenomenon == Phenomenon::pronoun) return has_only_pronoun(words, pair.expected);
  const auto has = [&](const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  return has(pair.expected) && !has(pair.rejected);
}

PhenomenonShares score_phenomena(const std::vector<SentencePair>& pairs,
                                 const std::vector<std::string>& hypotheses) {
  check(pairs.size() == hypotheses.size(), "score_phenomena: expected ", pairs.size(),
        " hypotheses, one for each pair, got ", hypotheses.size());
  PhenomenonShares shares;
  std::int64_t right_pronouns = 0, right_senses = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const bool is_right = translates_phenomenon(pairs[i], hypotheses[i]);
    if (pairs[i].phenomenon == Phenomenon::pronoun) {
      ++shares.num_pronouns;
      right_pronouns += is_right;
    } else if (pairs[i].phenomenon == Phenomenon::sense) {
      ++shares.num_senses;
      right_senses += is_right;
    }
  }
  if (shares.num_pronouns > 0) {
    shares.pronouns =
        static_cast<double>(right_pronouns) / static_cast<double>(shares.num_pronouns);
  }
  if (shares.num_senses > 0) {
    shares.senses = static_cast<double>(right_senses) / static_cast<double>(shares.num_senses);
  }
  return shares;
}

std::string_view phenomenon_name(Phenomenon phenomenon) {
  switch (phenomenon) {
    case Phenomenon::pronoun:
      return "pronoun";
    case Phenomenon::sense:
      return "sense";
    case Phenomenon::none:
      break;
  }
  return "none";
}

}  // namespace heed::data
