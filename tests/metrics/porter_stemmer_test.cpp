#include "heed/metrics/porter_stemmer.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace heed::metrics {
namespace {

using Stems = std::vector<std::pair<std::string, std::string>>;

void expect_stems(const Stems& stems) {
  for (const auto& [word, stem] : stems) EXPECT_EQ(porter_stem(word), stem) << word;
}

// The examples of NLTK's documentation.
TEST(PorterStemmer, GivesTheStemsOfNltksExamples) {
  expect_stems({{"caresses", "caress"},
                {"flies", "fli"},
                {"dies", "die"},
                {"mules", "mule"},
                {"denied", "deni"},
                {"died", "die"},
                {"agreed", "agre"},
                {"owned", "own"},
                {"humbled", "humbl"},
                {"sized", "size"},
                {"meeting", "meet"},
                {"stating", "state"},
                {"siezing", "siez"},
                {"itemization", "item"},
                {"sensational", "sensat"},
                {"traditional", "tradit"},
                {"reference", "refer"},
                {"colonizer", "colon"},
                {"plotted", "plot"}});
}

// Porter's own examples of each step, carried through to the last.
TEST(PorterStemmer, RemovesTheSuffixesOfEveryStep) {
  expect_stems({{"ponies", "poni"},         {"cats", "cat"},          {"feed", "feed"},
                {"plastered", "plaster"},   {"bled", "bled"},         {"motoring", "motor"},
                {"sing", "sing"},           {"conflated", "conflat"}, {"hopping", "hop"},
                {"falling", "fall"},        {"hissing", "hiss"},      {"fizzed", "fizz"},
                {"failing", "fail"},        {"filing", "file"},       {"happy", "happi"},
                {"relational", "relat"},    {"rational", "ration"},   {"digitizer", "digit"},
                {"operator", "oper"},       {"hopefulness", "hope"},  {"formality", "formal"},
                {"triplicate", "triplic"},  {"goodness", "good"},     {"revival", "reviv"},
                {"replacement", "replac"},  {"adoption", "adopt"},    {"region", "region"},
                {"probate", "probat"},      {"rate", "rate"},         {"cease", "ceas"},
                {"controlling", "control"}, {"roll", "roll"}});
}

TEST(PorterStemmer, HasTheExtensionsOfNltk) {
  expect_stems({{"ties", "tie"},
                {"spied", "spi"},
                {"enjoy", "enjoy"},
                {"fly", "fli"},
                {"geology", "geolog"},
                {"rationally", "ration"},
                {"sensationally", "sensat"},
                {"hopefully", "hope"},
                {"owed", "owe"},
                {"skies", "sky"},
                {"dying", "die"},
                {"innings", "inning"},
                {"news", "news"},
                {"succeed", "succeed"}});
}

// A y is a vowel after a consonant only.
TEST(PorterStemmer, TakesYForAVowelAfterAConsonant) {
  expect_stems({{"syzygies", "syzygi"}, {"toying", "toy"}, {"crying", "cri"}, {"yyying", "yy"}});
}

TEST(PorterStemmer, LeavesShortWordsAndNumbersAlone) {
  expect_stems({{"", ""}, {"s", "s"}, {"is", "is"}, {"by", "by"}, {"1984", "1984"}, {"90s", "90"}});
}

}  // namespace
}  // namespace heed::metrics
