// Sentence patterns: slots for words, and an English and a German template that put them into form.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heed/data/inflection.h"
#include "heed/data/lexicon.h"

namespace heed::data {

// What only the context can decide in a sentence: which noun "it" is, which sense a word has.
enum class Phenomenon { none, pronoun, sense };

struct Slot {
  std::string name;
  bool is_optional = false;
  std::vector<int> choices;  // indices of words
};

// A piece of a template: text as it stands, or words in a certain form.
struct Piece {
  enum class Kind { text, noun_phrase, pronoun, relative_pronoun, verb, plain_word };
  Kind kind = Kind::text;
  std::string text;
  std::vector<int> slots;  // adjectives, then the noun; or the one word
  Determiner determiner = Determiner::the;
  Case grammatical_case = Case::nominative;
  Number number = Number::singular;
  VerbForm verb_form = VerbForm::present;
  VerbPlace verb_place = VerbPlace::second;
  bool is_capital = false;
};

// One sentence of a pattern: the word of each slot, no_word where an optional one stays empty.
inline constexpr int no_word = -1;
using Choice = std::vector<int>;

class SentencePattern {
 public:
  // Reads the format that the head of corpus/patterns.txt describes. Refuses unknown groups, slots
  // and forms, and templates that do not use every slot in both languages.
  static std::vector<SentencePattern> parse(std::string_view text, const Lexicon& lexicon);

  const std::string& name() const { return name_; }
  std::int64_t weight() const { return weight_; }
  Phenomenon phenomenon() const { return phenomenon_; }
  const std::vector<Slot>& slots() const { return slots_; }
  // For a pronoun: the slot of the noun that it stands for, and of the noun that it could be
  // mistaken for. For a sense: the slot of the noun with two senses, twice.
  int labelled_slot() const { return labelled_slot_; }
  int rival_slot() const { return rival_slot_; }

  // Ways to fill the slots; those that use a word twice are numbered, too.
  std::int64_t num_choices() const;
  // Fills `choice` with the words of one numbered way. False: a word is used twice, so no sentence.
  bool choose(std::int64_t number, Choice& choice) const;

  std::string english(const Choice& choice, const Lexicon& lexicon) const;
  std::string german(const Choice& choice, const Lexicon& lexicon) const;
  // The labelled noun as it stands in the German sentence: "Fledermaus", "Fledermäuse".
  std::string german_noun_of(int slot, int word, const Lexicon& lexicon) const;

 private:
  friend class PatternParser;

  std::string name_;
  std::int64_t weight_ = 0;
  Phenomenon phenomenon_ = Phenomenon::none;
  std::vector<Slot> slots_;
  int labelled_slot_ = -1, rival_slot_ = -1;
  std::vector<Piece> english_, german_;
};

}  // namespace heed::data
