// The words of a grammar, English beside German, with the forms that sentences need.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed::data {

enum class WordKind { noun, verb, adjective, state, phrase };
enum class Gender { masculine, feminine, neuter };

struct NounForms {
  std::string english_plural;
  Gender gender = Gender::masculine;
  std::string german_plural;
  std::string german_oblique;  // accusative and dative singular: "Jungen" for "Junge"
};

struct VerbForms {
  std::string english_present, english_past, english_participle, english_particle;
  std::string german_present, german_past, german_participle, german_auxiliary, german_prefix;
};

struct Word {
  WordKind kind = WordKind::phrase;
  std::vector<std::string> groups;
  std::string english, german;  // singular, infinitive (without its prefix), or the text itself
  NounForms noun;               // for nouns
  VerbForms verb;               // for verbs
};

class Lexicon {
 public:
  // Reads the format that the head of corpus/lexicon.tsv describes. Refuses lines with a wrong
  // number of columns or forms, unknown kinds or genders, and words that stand there twice.
  static Lexicon parse(std::string_view text);

  const std::vector<Word>& words() const { return words_; }
  const Word& word(int index) const { return words_[index]; }
  // Indices of the words in a group; empty when there is no such group.
  std::vector<int> group(std::string_view name) const;
  // Index of another noun with the same English word, or -1.
  int other_sense(int index) const;

 private:
  std::vector<Word> words_;
};

}  // namespace heed::data
