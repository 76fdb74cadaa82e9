#include "heed/infer/fill_mask.h"

#include <gtest/gtest.h>

#include <set>

#include "infer/toy_encoders.h"
#include "models/overflowing_model.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace heed::infer {
namespace {

using Lines = std::vector<std::string>;

FillMask toy() { return {toy_masked_model().model, toy_masked_model().tokenizer}; }

std::set<std::string> words_of(const std::vector<MaskCandidate>& mask) {
  std::set<std::string> words;
  for (const MaskCandidate& word : mask) words.insert(word.word);
  return words;
}

TEST(FillMask, TellsTheWordsThatStandThereMostOften) {
  const auto filled = toy().fill(Lines{"the <mask> in", "<mask> blue"}, "<mask>", 3);
  ASSERT_EQ(filled.size(), 2u);
  ASSERT_EQ(filled[0].size(), 1u);
  EXPECT_EQ(words_of(filled[0][0]), (std::set<std::string>{"blue", "green", "red"}));
  EXPECT_EQ(words_of(filled[1][0]), (std::set<std::string>{"a", "in", "the"}));
  EXPECT_GE(filled[0][0][0].probability, filled[0][0][1].probability);
  EXPECT_LE(filled[0][0][0].probability, 1);
  const FilledLine alone = toy().fill("the <mask> in", 3);
  ASSERT_EQ(alone.size(), 1u);
  EXPECT_EQ(words_of(alone[0]), words_of(filled[0][0]));
}

TEST(FillMask, FillsEveryMaskOfALine) {
  const auto filled = toy().fill(Lines{"___ ___ in"}, "___", 1).front();
  ASSERT_EQ(filled.size(), 2u);
  EXPECT_EQ(filled[0].size(), 1u);
}

TEST(FillMask, NeverAnswersWithASpecialTokenOrTheMask) {
  const auto words = toy().fill(Lines{"the <mask> in"}, "<mask>", 100).front().front();
  EXPECT_EQ(words_of(words), (std::set<std::string>{"a", "blue", "green", "in", "red", "the"}));
}

// A model with random weights and two rows more than BERT's tokenizer has pieces.
FillMask word_pieces() {
  const TemporaryFolder folder;
  folder.write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ndog\n##s\n");
  const auto tokenizer = text::Tokenizer::load_folder(folder.path());
  models::TransformerConfig config = toy_masked_model().model.config();
  config.vocabulary = tokenizer.size() + 2;
  config.tokens = tokenizer.tokens();
  return {models::MaskedModel(config, 3), tokenizer};
}

TEST(FillMask, FillsTheMasksOfAnotherFamilyHoweverTheyAreWritten) {
  const FillMask filler = word_pieces();
  const auto filled = filler.fill(Lines{"the <mask>", "the [MASK]"}, "<mask>", 10);
  EXPECT_EQ(words_of(filled[0].at(0)), (std::set<std::string>{"the", "dog"}));
  EXPECT_EQ(filled[0][0][0].probability, filled[1].at(0)[0].probability);
  EXPECT_EQ(words_of(filler.fill("the dog<mask>", 10).at(0)), (std::set<std::string>{"s"}));
  EXPECT_TRUE(filler.has_mask("a [MASK]", "<mask>"));
  EXPECT_FALSE(toy().has_mask("a [MASK]", "<mask>"));
}

TEST(FillMask, ALineIsTheSameToTheBitAloneAndInAnyBatch) {
  const FillMask filler = toy();
  const Lines lines{"the <mask> in", "a <mask> the in the", "<mask>"};
  const auto together = filler.fill(lines, "<mask>", 6);
  const auto small_batches = filler.fill(lines, "<mask>", 6, {.batch_tokens = 1});
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto alone = filler.fill({&lines[i], 1}, "<mask>", 6).front().front();
    for (std::size_t word = 0; word < alone.size(); ++word) {
      EXPECT_EQ(together[i][0][word].probability, alone[word].probability);
      EXPECT_EQ(small_batches[i][0][word].probability, alone[word].probability);
    }
  }
}

TEST(FillMask, RefusesALineWithoutAMaskByItsNumber) {
  expect_error(ErrorKind::data, "line 5: expected the mask token <mask>, found none", [] {
    toy().fill(Lines{"the <mask>", "the red"}, "<mask>", 1, {.first_line = 4});
  });
}

TEST(FillMask, NeverGivesAnEmptyListOfWords) {
  const auto& [model, tokenizer, generation] = toy_masked_model();
  const FillMask broken(models::overflowing(models::MaskedModel(model.config(), 1)), tokenizer);
  expect_error(ErrorKind::model,
               "model: expected finite logits, found NaN or infinity (weights are damaged, or too "
               "large for this input)",
               [&] { broken.fill("the <mask>"); });
  expect_error(ErrorKind::usage, "`top`: expected a whole number of at least 1, found 0",
               [] { toy().fill("the <mask>", 0); });
}

}  // namespace
}  // namespace heed::infer
