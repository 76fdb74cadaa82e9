#include "heed/infer/line_tagger.h"

#include <gtest/gtest.h>

#include "infer/toy_encoders.h"
#include "models/overflowing_model.h"
#include "models/small_models.h"
#include "support/expect_error.h"

namespace heed::infer {
namespace {

using Lines = std::vector<std::string>;

LineTagger toy() { return {toy_tagger().model, toy_tagger().tokenizer}; }

std::string tags_of(const std::vector<WordTag>& words) {
  std::string tags;
  for (const WordTag& word : words) tags.append(tags.empty() ? "" : " ").append(word.tag);
  return tags;
}

TEST(LineTagger, TellsTheTagOfEachWord) {
  const LineTagger tagger = toy();
  const auto words = tagger.tag("in the green  hill\tred");
  EXPECT_EQ(tags_of(words), "O B-PLACE I-PLACE I-PLACE B-COLOUR");
  EXPECT_EQ(words[3].word, "hill");
  EXPECT_EQ(words[4].word, "red");
  for (const WordTag& word : words) {
    EXPECT_EQ(tagger.tags()[static_cast<std::size_t>(word.number)], word.tag);
    EXPECT_GT(word.probability, 0.25);
    EXPECT_LE(word.probability, 1);
  }
}

TEST(LineTagger, ALineIsTheSameToTheBitAloneAndInAnyBatch) {
  const LineTagger tagger = toy();
  const Lines lines{"red of", "", "in the green hill", "blue", "of of of red of blue the hill"};
  const auto together = tagger.tag(lines);
  const auto small_batches = tagger.tag(lines, {.batch_tokens = 1});
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto alone = tagger.tag(lines[i]);
    ASSERT_EQ(together[i].size(), alone.size());
    for (std::size_t word = 0; word < alone.size(); ++word) {
      EXPECT_EQ(together[i][word].probability, alone[word].probability);
      EXPECT_EQ(small_batches[i][word].probability, alone[word].probability);
    }
  }
}

TEST(LineTagger, ABlankLineHasNoTags) {
  const auto results = toy().tag(Lines{" \t", "red", ""});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_TRUE(results[0].empty());
  EXPECT_EQ(results[1].size(), 1u);
  EXPECT_TRUE(results[2].empty());
}

TEST(LineTagger, AWordOfSeveralTokensHasOneTag) {
  const auto tokenizer =
      text::Tokenizer::train(Lines{"red green blue"}, {.subwords = text::Subwords::character});
  models::TransformerConfig config = models::small_config(models::ModelKind::tagger);
  config.vocabulary = tokenizer.size();
  const LineTagger tagger(models::Tagger(config, 1), tokenizer);
  const auto words = tagger.tag("red snowman blue");
  ASSERT_EQ(words.size(), 3u);
  EXPECT_EQ(words[1].word, "snowman");
}

TEST(LineTagger, RefusesALineLongerThanLearnedPositionsByItsNumber) {
  models::TransformerConfig config = toy_tagger().model.config();
  config.positions = models::Positions::learned;
  config.max_positions = 3;
  const LineTagger tagger(models::Tagger(config, 1), toy_tagger().tokenizer);
  EXPECT_NO_THROW(tagger.tag(Lines{"", "the red"}));
  expect_error(ErrorKind::data, "line 12: expected a text of at most 2 tokens, found 3", [&] {
    tagger.tag(Lines{"", "in the red"}, {.first_line = 11});
  });
}

TEST(LineTagger, RefusesAModelWhoseLogitsAreNotFinite) {
  const LineTagger tagger(models::overflowing(models::Tagger(toy_tagger().model.config(), 1)),
                          toy_tagger().tokenizer);
  try {
    tagger.tag("red of");
    ADD_FAILURE() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::model) << error.what();
  }
}

}  // namespace
}  // namespace heed::infer
