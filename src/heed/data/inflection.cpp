#include "heed/data/inflection.h"

#include <array>
#include <string_view>

namespace heed::data {
namespace {

// One cell for each gender and one for the plural, one row for each case.
using Paradigm = std::array<std::array<const char*, 4>, 3>;

const char* cell(const Paradigm& paradigm, Gender gender, Case grammatical_case, Number number) {
  const int column = number == Number::plural ? 3 : static_cast<int>(gender);
  return paradigm[static_cast<int>(grammatical_case)][column];
}

constexpr Paradigm definite_article = {{
    {"der", "die", "das", "die"},
    {"den", "die", "das", "die"},
    {"dem", "der", "dem", "den"},
}};
// Endings of dies-.
constexpr Paradigm strong_endings = {{
    {"er", "e", "es", "e"},
    {"en", "e", "es", "e"},
    {"em", "er", "em", "en"},
}};
// Endings of ein- and mein-.
constexpr Paradigm mixed_article_endings = {{
    {"", "e", "", "e"},
    {"en", "e", "", "e"},
    {"em", "er", "em", "en"},
}};
// Endings of adjectives after der and dieser.
constexpr Paradigm weak_adjective_endings = {{
    {"e", "e", "e", "en"},
    {"en", "e", "e", "en"},
    {"en", "en", "en", "en"},
}};
// Endings of adjectives after ein and mein.
constexpr Paradigm mixed_adjective_endings = {{
    {"er", "e", "es", "en"},
    {"en", "e", "es", "en"},
    {"en", "en", "en", "en"},
}};
constexpr Paradigm personal_pronoun = {{
    {"er", "sie", "es", "sie"},
    {"ihn", "sie", "es", "sie"},
    {"ihm", "ihr", "ihm", "ihnen"},
}};

const Paradigm& adjective_endings(Determiner determiner) {
  switch (determiner) {
    case Determiner::the:
    case Determiner::this_one:
      return weak_adjective_endings;
    case Determiner::a:
    case Determiner::my:
      return mixed_adjective_endings;
    case Determiner::two:
      break;
  }
  return strong_endings;
}

bool begins_with_vowel(std::string_view word) {
  return std::string_view("aeiou").find(word.front()) != std::string_view::npos;
}

// saß -> saßen, wartete -> warteten
std::string german_past_plural(const std::string& singular) {
  return singular + (singular.ends_with('e') ? "n" : "en");
}

void append_word(std::string& text, std::string_view word) {
  if (!text.empty()) text += ' ';
  text += word;
}

}  // namespace

Number number_with(Determiner determiner, Number number) {
  return determiner == Determiner::two ? Number::plural : number;
}

std::string german_determiner(Determiner determiner, Gender gender, Case grammatical_case,
                              Number number) {
  switch (determiner) {
    case Determiner::the:
      return cell(definite_article, gender, grammatical_case, number);
    case Determiner::this_one:
      return std::string("dies") + cell(strong_endings, gender, grammatical_case, number);
    case Determiner::a:
      return std::string("ein") + cell(mixed_article_endings, gender, grammatical_case, number);
    case Determiner::my:
      return std::string("mein") + cell(mixed_article_endings, gender, grammatical_case, number);
    case Determiner::two:
      break;
  }
  return "zwei";
}

std::string german_adjective(const Word& adjective, Determiner determiner, Gender gender,
                             Case grammatical_case, Number number) {
  return adjective.german + cell(adjective_endings(determiner), gender, grammatical_case, number);
}

std::string german_noun(const Word& noun, Case grammatical_case, Number number) {
  if (number == Number::singular) {
    return grammatical_case == Case::nominative ? noun.german : noun.noun.german_oblique;
  }
  const std::string& plural = noun.noun.german_plural;
  const bool takes_n =
      grammatical_case == Case::dative && !plural.ends_with('n') && !plural.ends_with('s');
  return takes_n ? plural + "n" : plural;
}

std::string german_pronoun(Gender gender, Case grammatical_case) {
  return cell(personal_pronoun, gender, grammatical_case, Number::singular);
}

std::string german_verb(const Word& verb, VerbForm form, VerbPlace place, Number number) {
  const VerbForms& forms = verb.verb;
  const std::string prefix = place == VerbPlace::final ? forms.german_prefix : "";
  const bool is_plural = number == Number::plural;
  switch (form) {
    case VerbForm::present:
      return prefix + (is_plural ? verb.german : forms.german_present);
    case VerbForm::past:
      return prefix + (is_plural ? german_past_plural(forms.german_past) : forms.german_past);
    case VerbForm::infinitive:
      return forms.german_prefix + verb.german;
    case VerbForm::participle:
      return forms.german_participle;
    case VerbForm::auxiliary:
      if (forms.german_auxiliary == "hat") return is_plural ? "haben" : "hat";
      return is_plural ? "sind" : "ist";
    case VerbForm::particle:
      break;
  }
  return forms.german_prefix;
}

std::string english_verb(const Word& verb, VerbForm form, Number number) {
  const bool is_plural = number == Number::plural;
  switch (form) {
    case VerbForm::present:
      return is_plural ? verb.english : verb.verb.english_present;
    case VerbForm::past:
      return verb.verb.english_past;
    case VerbForm::infinitive:
      return verb.english;
    case VerbForm::participle:
      return verb.verb.english_participle;
    case VerbForm::auxiliary:
      return is_plural ? "have" : "has";
    case VerbForm::particle:
      break;
  }
  return verb.verb.english_particle;
}

std::string english_noun_phrase(Determiner determiner, const std::vector<const Word*>& adjectives,
                                const Word& noun, Number number) {
  std::string rest;
  for (const Word* adjective : adjectives) append_word(rest, adjective->english);
  const bool is_plural = number_with(determiner, number) == Number::plural;
  append_word(rest, is_plural ? noun.noun.english_plural : noun.english);
  switch (determiner) {
    case Determiner::the:
      return "the " + rest;
    case Determiner::this_one:
      return (is_plural ? "these " : "this ") + rest;
    case Determiner::a:
      return (begins_with_vowel(rest) ? "an " : "a ") + rest;
    case Determiner::my:
      return "my " + rest;
    case Determiner::two:
      break;
  }
  return "two " + rest;
}

std::string german_noun_phrase(Determiner determiner, const std::vector<const Word*>& adjectives,
                               const Word& noun, Case grammatical_case, Number number) {
  const Gender gender = noun.noun.gender;
  number = number_with(determiner, number);
  std::string phrase = german_determiner(determiner, gender, grammatical_case, number);
  for (const Word* adjective : adjectives) {
    append_word(phrase, german_adjective(*adjective, determiner, gender, grammatical_case, number));
  }
  append_word(phrase, german_noun(noun, grammatical_case, number));
  return phrase;
}

std::string contract_prepositions(std::string sentence) {
  static constexpr std::array<std::array<std::string_view, 2>, 4> contractions = {{
      {" in dem ", " im "},
      {" in das ", " ins "},
      {" zu dem ", " zum "},
      {" zu der ", " zur "},
  }};
  sentence.insert(sentence.begin(), ' ');  // so that the first word has a space before it, too
  for (const auto& [full, contracted] : contractions) {
    for (std::size_t at; (at = sentence.find(full)) != std::string::npos;) {
      sentence.replace(at, full.size(), contracted);
    }
  }
  return sentence.substr(1);
}

}  // namespace heed::data
