#include "heed/metrics/porter_stemmer.h"

#include <span>
#include <utility>

namespace heed::metrics {
namespace {

// A y is a vowel after a consonant: "syzygy" has three vowels, "toy" has one. The first letter of a
// word counts as one after a vowel.
bool is_vowel(char letter, bool is_after_vowel) {
  switch (letter) {
    case 'a':
    case 'e':
    case 'i':
    case 'o':
    case 'u':
      return true;
    case 'y':
      return !is_after_vowel;
    default:
      return false;
  }
}

// Properties of a word or stem that the rules ask for, read from left to right.
struct Letters {
  int measure = 0;               // Porter's m: vowels that consonants come after, as groups
  bool has_vowel = false;        // *v*
  bool ends_in_vowel = false;    // the last letter
  bool before_is_vowel = false;  // the last but one
  bool third_is_vowel = false;   // the last but two

  explicit Letters(std::string_view stem) {
    bool is_after_vowel = true;
    for (std::size_t i = 0; i < stem.size(); ++i) {
      const bool vowel = is_vowel(stem[i], is_after_vowel);
      measure += i > 0 && is_after_vowel && !vowel;
      has_vowel = has_vowel || vowel;
      third_is_vowel = std::exchange(before_is_vowel, std::exchange(ends_in_vowel, vowel));
      is_after_vowel = vowel;
    }
  }
};

int measure(std::string_view stem) { return Letters(stem).measure; }

// *o: consonant, vowel, consonant other than w, x and y ("hop"). NLTK adds words of a vowel and a
// consonant ("ow").
bool ends_in_short_syllable(std::string_view stem) {
  const Letters letters(stem);
  if (stem.size() < 2 || letters.ends_in_vowel || !letters.before_is_vowel) return false;
  if (stem.size() == 2) return true;
  return !letters.third_is_vowel && std::string_view("wxy").find(stem.back()) == stem.npos;
}

// *d: "tt", "ss".
bool ends_in_double_consonant(std::string_view stem) {
  return stem.size() >= 2 && stem.back() == stem[stem.size() - 2] && !Letters(stem).ends_in_vowel;
}

std::string_view without_last(std::string_view word, std::size_t num_letters) {
  return word.substr(0, word.size() - num_letters);
}

std::string join(std::string_view stem, std::string_view suffix) {
  return std::string(stem).append(suffix);
}

struct Rule {
  std::string_view suffix;
  std::string_view replacement;
};

// The first rule whose suffix the word has is the only one that is tried. It applies if the stem
// before the suffix has more than `above` measures.
std::string apply(std::span<const Rule> rules, const std::string& word, int above) {
  for (const Rule& rule : rules) {
    if (!word.ends_with(rule.suffix)) continue;
    const std::string_view stem = without_last(word, rule.suffix.size());
    return measure(stem) > above ? join(stem, rule.replacement) : word;
  }
  return word;
}

// Plurals.
std::string step_1a(const std::string& word) {
  if (word.ends_with("ies")) {
    // NLTK: "ties" -> "tie", while "flies" -> "fli".
    return join(without_last(word, 3), word.size() == 4 ? "ie" : "i");
  }
  if (word.ends_with("sses")) return join(without_last(word, 4), "ss");
  if (word.ends_with("s") && !word.ends_with("ss")) return join(without_last(word, 1), "");
  return word;
}

// After -ed or -ing: "siz" -> "size", "hopp" -> "hop", "fil" -> "file".
std::string restore_ending(std::string_view stem) {
  if (stem.ends_with("at") || stem.ends_with("bl") || stem.ends_with("iz")) return join(stem, "e");
  if (ends_in_double_consonant(stem)) {
    const bool stays = std::string_view("lsz").find(stem.back()) != stem.npos;
    return join(stays ? stem : without_last(stem, 1), "");
  }
  return join(stem, measure(stem) == 1 && ends_in_short_syllable(stem) ? "e" : "");
}

// Past tenses and participles.
std::string step_1b(const std::string& word) {
  if (word.ends_with("ied")) {
    // NLTK: "died" -> "die", while "spied" -> "spi".
    return join(without_last(word, 3), word.size() == 4 ? "ie" : "i");
  }
  if (word.ends_with("eed")) {
    return measure(without_last(word, 3)) > 0 ? join(without_last(word, 1), "") : word;
  }
  for (const std::string_view suffix : {"ed", "ing"}) {
    if (!word.ends_with(suffix)) continue;
    const std::string_view stem = without_last(word, suffix.size());
    if (Letters(stem).has_vowel) return restore_ending(stem);
  }
  return word;
}

// NLTK: a y after a consonant, "happy" -> "happi", "fly" -> "fli", but neither "enjoy" nor "by".
std::string step_1c(const std::string& word) {
  if (!word.ends_with("y")) return word;
  const std::string_view stem = without_last(word, 1);
  return stem.size() > 1 && !Letters(stem).ends_in_vowel ? join(stem, "i") : word;
}

// Two suffixes become one.
std::string step_2(const std::string& word) {
  static constexpr Rule rules[] = {{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"},
                                   {"anci", "ance"},   {"izer", "ize"},    {"bli", "ble"},
                                   {"alli", "al"},     {"entli", "ent"},   {"eli", "e"},
                                   {"ousli", "ous"},   {"ization", "ize"}, {"ation", "ate"},
                                   {"ator", "ate"},    {"alism", "al"},    {"iveness", "ive"},
                                   {"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"},
                                   {"iviti", "ive"},   {"biliti", "ble"},  {"fulli", "ful"}};
  // NLTK: what is left of -alli may have another of these suffixes.
  if (word.ends_with("alli") && measure(without_last(word, 4)) > 0) {
    return step_2(join(without_last(word, 2), ""));
  }
  // NLTK: the l counts as part of the stem, so that "geologi" -> "geolog".
  if (word.ends_with("logi")) {
    return measure(without_last(word, 3)) > 0 ? join(without_last(word, 1), "") : word;
  }
  return apply(rules, word, 0);
}

std::string step_3(const std::string& word) {
  static constexpr Rule rules[] = {{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"},
                                   {"ical", "ic"},  {"ful", ""},   {"ness", ""}};
  return apply(rules, word, 0);
}

// Suffixes of long stems.
std::string step_4(const std::string& word) {
  static constexpr Rule rules[] = {{"al", ""},    {"ance", ""}, {"ence", ""}, {"er", ""},
                                   {"ic", ""},    {"able", ""}, {"ible", ""}, {"ant", ""},
                                   {"ement", ""}, {"ment", ""}, {"ent", ""},  {"ion", ""},
                                   {"ou", ""},    {"ism", ""},  {"ate", ""},  {"iti", ""},
                                   {"ous", ""},   {"ive", ""},  {"ize", ""}};
  if (word.ends_with("ion") && !word.ends_with("sion") && !word.ends_with("tion")) return word;
  return apply(rules, word, 1);
}

// A last e.
std::string step_5a(const std::string& word) {
  if (!word.ends_with("e")) return word;
  const std::string_view stem = without_last(word, 1);
  const int m = measure(stem);
  return m > 1 || (m == 1 && !ends_in_short_syllable(stem)) ? join(stem, "") : word;
}

// A double l.
std::string step_5b(const std::string& word) {
  const std::string_view stem = without_last(word, 1);
  return word.ends_with("ll") && measure(stem) > 1 ? join(stem, "") : word;
}

struct Form {
  std::string_view word;
  std::string_view stem;
};

// NLTK: words that the rules are wrong about. Empty for all others.
std::string_view irregular_stem(std::string_view word) {
  static constexpr Form irregular[] = {
      {"sky", "sky"},          {"skies", "sky"},       {"dying", "die"},
      {"lying", "lie"},        {"tying", "tie"},       {"news", "news"},
      {"innings", "inning"},   {"inning", "inning"},   {"outings", "outing"},
      {"outing", "outing"},    {"howe", "howe"},       {"exceed", "exceed"},
      {"cannings", "canning"}, {"canning", "canning"}, {"proceed", "proceed"},
      {"succeed", "succeed"}};
  for (const Form& form : irregular) {
    if (word == form.word) return form.stem;
  }
  return {};
}

}  // namespace

std::string porter_stem(std::string_view word) {
  if (const std::string_view stem = irregular_stem(word); !stem.empty()) return std::string(stem);
  if (word.size() <= 2) return std::string(word);
  return step_5b(step_5a(step_4(step_3(step_2(step_1c(step_1b(step_1a(std::string(word)))))))));
}

}  // namespace heed::metrics
