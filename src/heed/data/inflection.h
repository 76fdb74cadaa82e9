// English and German words in the form that their place in a sentence asks for.
#pragma once

#include <string>
#include <vector>

#include "heed/data/lexicon.h"

namespace heed::data {

enum class Case { nominative, accusative, dative };
enum class Number { singular, plural };
enum class Determiner { the, a, this_one, my, two };
enum class VerbForm { present, past, infinitive, participle, auxiliary, particle };

// Where a verb stands in a German clause: the prefix of a separable verb is joined to it at the
// end.
enum class VerbPlace { second, final };

// "two" makes a noun phrase plural, whatever else is said; "a" has no plural.
Number number_with(Determiner determiner, Number number);

std::string german_determiner(Determiner determiner, Gender gender, Case grammatical_case,
                              Number number);
std::string german_adjective(const Word& adjective, Determiner determiner, Gender gender,
                             Case grammatical_case, Number number);
std::string german_noun(const Word& noun, Case grammatical_case, Number number);
// er, sie, es; ihn, sie, es; ihm, ihr, ihm.
std::string german_pronoun(Gender gender, Case grammatical_case);
std::string german_verb(const Word& verb, VerbForm form, VerbPlace place, Number number);

std::string english_verb(const Word& verb, VerbForm form, Number number);

// Determiner, adjectives and noun: "an old cat", "einer alten Katze".
std::string english_noun_phrase(Determiner determiner, const std::vector<const Word*>& adjectives,
                                const Word& noun, Number number);
std::string german_noun_phrase(Determiner determiner, const std::vector<const Word*>& adjectives,
                               const Word& noun, Case grammatical_case, Number number);

// "in dem Wald" -> "im Wald", and the like, for a whole sentence without its first capital.
std::string contract_prepositions(std::string sentence);

}  // namespace heed::data
