#include "heed/data/data_checks.h"

#include <gtest/gtest.h>

namespace heed::data {
namespace {

using Lines = std::vector<std::string>;

// "a 1", "a 2" ...
Lines numbered(const std::string& word, int count) {
  Lines lines;
  for (int i = 1; i <= count; ++i) lines.push_back(word + ' ' + std::to_string(i));
  return lines;
}

text::ParallelLines pairs(const std::string& source, const std::string& target, int count) {
  return {numbered(source, count), numbered(target, count)};
}

std::vector<LabelledLine> labelled(const Lines& labels, const Lines& texts) {
  std::vector<LabelledLine> lines;
  for (std::size_t i = 0; i < labels.size(); ++i) lines.push_back({labels[i], texts[i]});
  return lines;
}

TEST(DataChecks, SayNothingOfPairsAsTheyShouldBe) {
  const auto training = pairs("cat", "Katze", 100), validation = pairs("dog", "Hund", 10);
  EXPECT_EQ(check_pairs(training, &validation), Lines{});
  EXPECT_EQ(check_pairs(training, nullptr), Lines{});
  EXPECT_EQ(check_pairs({}, nullptr), Lines{});
}

TEST(DataChecks, TellOfSourcesThatEqualTheirTarget) {
  auto training = pairs("cat", "Katze", 200);
  for (int i = 0; i < 10; ++i) training.target[i] = training.source[i];
  EXPECT_EQ(check_pairs(training, nullptr), Lines{});
  training.target[10] = training.source[10];
  EXPECT_EQ(check_pairs(training, nullptr),
            Lines{"source and target are equal in 11 of 200 (5.5 %) pairs"});
}

TEST(DataChecks, TellOfPairsThatOccurAgain) {
  auto training = pairs("cat", "Katze", 100);
  // The same source with another target is no repetition.
  for (int i = 50; i < 100; ++i) training.source[i] = training.source[i - 50];
  EXPECT_EQ(check_pairs(training, nullptr), Lines{});
  for (int i = 50; i < 61; ++i) training.target[i] = training.target[i - 50];
  EXPECT_EQ(check_pairs(training, nullptr),
            Lines{"11 of 100 (11.0 %) training pairs repeat an earlier one"});
}

TEST(DataChecks, TellOfValidationPairsInTheTrainingData) {
  const auto training = pairs("cat", "Katze", 100);
  auto validation = pairs("dog", "Hund", 50);
  for (int i = 0; i < 10; ++i) validation.source[i] = training.source[i];
  EXPECT_EQ(check_pairs(training, &validation), Lines{});
  for (int i = 0; i < 9; ++i) validation.target[i] = training.target[i];
  EXPECT_EQ(check_pairs(training, &validation), Lines{});  // may be chance
  validation.target[9] = training.target[9];
  EXPECT_EQ(check_pairs(training, &validation),
            Lines{"10 of 50 (20.0 %) validation pairs are also in the training data, so validation "
                  "scores will be too high"});
}

TEST(DataChecks, TellOfSwappedLanguagesByTheirLetters) {
  const auto training = pairs("\u043a\u043e\u0442", "cat", 50);
  const auto swapped = pairs("dog", "\u043f\u0451\u0441", 5);
  const auto right = pairs("\u043f\u0451\u0441", "dog", 5);
  EXPECT_EQ(check_pairs(training, &right), Lines{});
  EXPECT_EQ(check_pairs(training, &swapped),
            Lines{"training goes from Cyrillic to Latin letters, the validation data from Latin to "
                  "Cyrillic: is one of them swapped?"});
  const auto chinese = pairs("\u732b", "\uace0\uc591\uc774", 50);
  const auto korean = pairs("\uac1c\uac00", "\u72d7", 5);
  EXPECT_EQ(check_pairs(chinese, &korean).size(), 1u);
}

TEST(DataChecks, TellOfLabelsThatOccurOnce) {
  const Lines texts = numbered("text", 10);
  const Lines once{"a", "a", "a", "b", "b", "c", "c", "d", "e", "f"};
  EXPECT_EQ(check_labelled(labelled(once, texts), {}), Lines{});  // half of them
  const Lines most{"a", "a", "a", "a", "b", "b", "c", "d", "e", "f"};
  EXPECT_EQ(check_labelled(labelled(most, texts), {}),
            Lines{"4 of 6 (66.7 %) labels occur once: is the label in another column? `fields` "
                  "LABEL,TEXT says which"});
}

TEST(DataChecks, CompareLabelledLinesByTheirText) {
  const auto training = labelled(Lines(20, "a"), numbered("text", 20));
  EXPECT_EQ(check_labelled(training, labelled(Lines(10, "b"), numbered("text", 10))).size(), 1u);
  EXPECT_EQ(check_labelled(training, labelled(Lines(10, "a"), numbered("other", 10))), Lines{});
  EXPECT_EQ(check_lines(Lines(20, "text 1"), numbered("text", 20)),
            Lines{"19 of 20 (95.0 %) training lines repeat an earlier one"});
}

TEST(DataChecks, ComparePairsByBothTexts) {
  auto training = labelled(Lines(20, "a"), Lines(20, "the same"));
  for (int i = 0; i < 20; ++i) training[i].second = "text " + std::to_string(i);
  EXPECT_EQ(check_labelled(training, {}), Lines{});
}

TEST(DataChecks, TellOfClassesThatMayBeAmounts) {
  Lines numbers;
  for (int i = 0; i < 40; ++i) numbers.push_back(std::to_string(i / 2) + ".5");
  const auto training = labelled(numbers, numbered("text", 40));
  EXPECT_EQ(check_labelled(training, {}),
            Lines{"all 20 labels are numbers: if they are amounts, `problem_type` regression "
                  "predicts them"});
  EXPECT_EQ(check_labelled(training, {}, ProblemType::regression), Lines{});
  const Lines few(numbers.begin(), numbers.begin() + 38);  // stars from 1 to 5 are classes
  EXPECT_EQ(check_labelled(labelled(few, numbered("text", 38)), {}), Lines{});
}

TEST(DataChecks, CountEveryLabelOfALine) {
  const Lines sets{"a|b", "b|c", "c|d", "d|e", "e|a"};
  EXPECT_EQ(check_labelled(labelled(sets, numbered("text", 5)), {}, ProblemType::multi_label),
            Lines{});
  EXPECT_EQ(check_labelled(labelled(sets, numbered("text", 5)), {}).size(), 1u);
}

TEST(DataChecks, SeeThatLabelAndTextAreSwapped) {
  const Lines classes{"good", "bad", "good", "bad", "good", "bad", "good", "bad"};
  EXPECT_TRUE(are_columns_swapped(labelled(numbered("it is", 8), classes)));
  EXPECT_FALSE(are_columns_swapped(labelled(classes, numbered("it is", 8))));
  EXPECT_FALSE(are_columns_swapped(labelled(numbered("a", 8), numbered("b", 8))));
  EXPECT_FALSE(are_columns_swapped(labelled(numbered("a", 7), Lines(7, "b"))));  // too few to say
}

}  // namespace
}  // namespace heed::data
