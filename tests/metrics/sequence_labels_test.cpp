#include "heed/metrics/sequence_labels.h"

#include <gtest/gtest.h>

#include <ostream>

#include "heed/base/error.h"

namespace heed::metrics {

void PrintTo(const Entity& entity, std::ostream* out) {
  *out << entity.type << " [" << entity.begin << ", " << entity.end << ")";
}

namespace {

using Tags = std::vector<std::string>;
using Entities = std::vector<Entity>;

TEST(Entities, BeginWithBAndContinueWithI) {
  EXPECT_EQ(entities_of(Tags{"O", "O", "O", "B-MISC", "I-MISC", "I-MISC", "O", "B-PER", "I-PER"}),
            (Entities{{"MISC", 3, 6}, {"PER", 7, 9}}));
  EXPECT_EQ(entities_of(Tags{"B-PER", "B-PER", "I-LOC"}),
            (Entities{{"PER", 0, 1}, {"PER", 1, 2}, {"LOC", 2, 3}}));
  EXPECT_EQ(entities_of(Tags{}), Entities{});
  EXPECT_EQ(entities_of(Tags{"O", "O"}), Entities{});
}

TEST(Entities, EndWithEAndAreSingleWithS) {
  EXPECT_EQ(entities_of(Tags{"B-PER", "I-PER", "E-PER", "S-LOC", "S-LOC", "B-ORG", "E-ORG"}),
            (Entities{{"PER", 0, 3}, {"LOC", 3, 4}, {"LOC", 4, 5}, {"ORG", 5, 7}}));
}

TEST(Entities, HaveTagsOfTheirOwn) {
  for (const char* tag : {"O", "B", "B-PER", "I-PER", "E-PER", "S-PER", "B-"}) {
    EXPECT_TRUE(is_entity_tag(tag)) << tag;
  }
  for (const char* tag : {"", "NOUN", "IN", "o", "b-PER", "BPER", "U-PER"}) {
    EXPECT_FALSE(is_entity_tag(tag)) << tag;
  }
}

// What conlleval and seqeval's default mode make of them.
TEST(Entities, AreAlsoThoseOfIncompleteTags) {
  EXPECT_EQ(entities_of(Tags{"I-PER", "I-PER", "O", "E-LOC"}),
            (Entities{{"PER", 0, 2}, {"LOC", 3, 4}}));
  EXPECT_EQ(entities_of(Tags{"E-PER", "I-PER", "E-PER", "E-PER", "S-PER", "I-PER"}),
            (Entities{{"PER", 0, 1}, {"PER", 1, 3}, {"PER", 3, 4}, {"PER", 4, 5}, {"PER", 5, 6}}));
  EXPECT_EQ(entities_of(Tags{"B-PER", "E-LOC", "I-LOC"}),
            (Entities{{"PER", 0, 1}, {"LOC", 1, 2}, {"LOC", 2, 3}}));
}

TEST(Entities, HaveTypesWithDashesOrNone) {
  EXPECT_EQ(entities_of(Tags{"B-a-b", "I-a-b", "I-a"}), (Entities{{"a-b", 0, 2}, {"a", 2, 3}}));
  EXPECT_EQ(entities_of(Tags{"O", "B", "I", "O", "S"}), (Entities{{"_", 1, 3}, {"_", 4, 5}}));
}

TEST(Entities, RefuseOtherTags) {
  for (const std::string tag : {"", "PER", "X-PER", "BPER", "o", "O-PER", "b-PER"}) {
    EXPECT_THROW(entities_of(Tags{"O", tag}), Error) << tag;
  }
}

const std::vector<Tags> reference = {{"O", "O", "O", "B-MISC", "I-MISC", "I-MISC", "O"},
                                     {"B-PER", "I-PER", "O"}};

// The example of seqeval's README.
TEST(SequenceLabels, HaveTheScoresOfSeqeval) {
  const std::vector<Tags> predicted = {{"O", "O", "B-MISC", "I-MISC", "I-MISC", "I-MISC", "O"},
                                       {"B-PER", "I-PER", "O"}};
  const SequenceLabelScores scores = score_sequence_labels(predicted, reference);
  EXPECT_DOUBLE_EQ(scores.accuracy, 0.8);
  EXPECT_DOUBLE_EQ(scores.micro.precision, 0.5);
  EXPECT_DOUBLE_EQ(scores.micro.recall, 0.5);
  EXPECT_DOUBLE_EQ(scores.micro.f1, 0.5);
  EXPECT_EQ(scores.support, 2);
  ASSERT_EQ(scores.types.size(), 2u);
  EXPECT_EQ(scores.types[0].type, "MISC");
  EXPECT_EQ(scores.types[0].scores.f1, 0);
  EXPECT_EQ(scores.types[0].support, 1);
  EXPECT_EQ(scores.types[1].type, "PER");
  EXPECT_EQ(scores.types[1].scores.precision, 1);
  EXPECT_EQ(scores.types[1].scores.recall, 1);
  EXPECT_EQ(scores.types[1].scores.f1, 1);
  EXPECT_EQ(scores.types[1].support, 1);
}

TEST(SequenceLabels, CountTypesThatWereOnlyPredicted) {
  const std::vector<Tags> predicted = {{"B-LOC", "O", "O", "B-MISC", "I-MISC", "I-MISC", "O"},
                                       {"O", "O", "O"}};
  const SequenceLabelScores scores = score_sequence_labels(predicted, reference);
  ASSERT_EQ(scores.types.size(), 3u);
  EXPECT_EQ(scores.types[0].type, "LOC");
  EXPECT_EQ(scores.types[0].support, 0);
  EXPECT_EQ(scores.types[0].scores.f1, 0);
  EXPECT_DOUBLE_EQ(scores.micro.precision, 0.5);
  EXPECT_DOUBLE_EQ(scores.micro.recall, 0.5);
  EXPECT_DOUBLE_EQ(scores.accuracy, 0.7);
}

// The last token of a sequence and the first of the next are no entity.
TEST(SequenceLabels, EndEntitiesWithTheirSequence) {
  const std::vector<Tags> apart = {{"B-PER"}, {"I-PER"}}, together = {{"B-PER", "I-PER"}};
  EXPECT_EQ(score_sequence_labels(apart, apart).support, 2);
  EXPECT_EQ(score_sequence_labels(together, together).support, 1);
}

TEST(SequenceLabels, AreZeroWithoutTokensOrEntities) {
  const SequenceLabelScores nothing = score_sequence_labels({}, {});
  EXPECT_EQ(nothing.accuracy, 0);
  EXPECT_EQ(nothing.micro.f1, 0);
  const std::vector<Tags> outside = {{"O", "O"}, {}};
  EXPECT_EQ(score_sequence_labels(outside, outside).accuracy, 1);
  EXPECT_EQ(score_sequence_labels(outside, outside).micro.f1, 0);
}

TEST(SequenceLabels, RefuseDifferentCounts) {
  EXPECT_THROW(score_sequence_labels(std::vector<Tags>{{"O"}}, reference), Error);
  EXPECT_THROW(score_sequence_labels(std::vector<Tags>{{"O"}, {"O"}}, reference), Error);
}

}  // namespace
}  // namespace heed::metrics
