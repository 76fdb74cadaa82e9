#include "heed/metrics/tag_scores.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"

namespace heed::metrics {
namespace {

using Lines = std::vector<std::vector<int>>;
using Tags = std::vector<std::string>;

TEST(TagScores, AreOfWordsAndOfWholeEntities) {
  const Tags tags{"B-LOC", "B-PER", "I-PER", "O"};
  const Lines right{{1, 2, 3, 0}, {3, 1}}, predicted{{1, 3, 3, 0}, {3, 1}};
  const TagScores scores = score_tags(predicted, right, tags);
  EXPECT_DOUBLE_EQ(accuracy(scores.words), 5.0 / 6);
  ASSERT_TRUE(scores.entities);
  EXPECT_EQ(scores.entities->support, 3);
  EXPECT_DOUBLE_EQ(scores.entities->micro.precision, 2.0 / 3);
  EXPECT_DOUBLE_EQ(scores.entities->micro.recall, 2.0 / 3);
  EXPECT_EQ(scores.entities->types.at(0).scores.f1, 1);
}

TEST(TagScores, HaveEntitiesOnlyIfAllTagsAreThoseOfEntities) {
  EXPECT_TRUE(are_entity_tags(Tags{"B-PER", "I-PER", "O"}));
  EXPECT_FALSE(are_entity_tags(Tags{"B-PER", "NOUN", "O"}));
  EXPECT_FALSE(are_entity_tags(Tags{"O"}));
  const Lines right{{0, 1}};
  EXPECT_FALSE(score_tags(right, right, Tags{"DET", "NOUN"}).entities);
  EXPECT_EQ(macro_f1(score_tags(right, right, Tags{"DET", "NOUN"}).words), 1);
}

TEST(TagScores, RefuseAnotherNumberOfWords) {
  const Tags tags{"B-PER", "O"};
  EXPECT_THROW(score_tags(Lines{{0}}, Lines{{0, 1}}, tags), Error);
  EXPECT_THROW(score_tags(Lines{{0, 1}}, Lines{{0}, {1}}, tags), Error);
}

}  // namespace
}  // namespace heed::metrics
