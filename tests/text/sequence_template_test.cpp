#include "heed/text/sequence_template.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace heed::text {
namespace {

using Ids = std::vector<int>;

constexpr int cls = 101, sep = 102;

SequenceTemplate bert() {
  return {.prefix = {cls}, .suffix = {sep}, .between = Ids{sep}, .second_type = 1};
}

SequenceTemplate roberta() { return {.prefix = {0}, .suffix = {2}, .between = Ids{2, 2}}; }

TEST(SequenceTemplate, PutsSpecialTokensAroundATextAndBetweenTheTextsOfAPair) {
  EXPECT_EQ(own_sequence().single(Ids{7, 8}), (Ids{7, 8, 3}));
  EXPECT_EQ(own_sequence().pair(Ids{7}, Ids{8}), (Ids{7, 3, 8, 3}));
  EXPECT_EQ(bert().single(Ids{7, 8}), (Ids{cls, 7, 8, sep}));
  EXPECT_EQ(bert().pair(Ids{7}, Ids{8, 9}), (Ids{cls, 7, sep, 8, 9, sep}));
  EXPECT_EQ(roberta().pair(Ids{7}, Ids{8}), (Ids{0, 7, 2, 2, 8, 2}));
  EXPECT_EQ(bert().num_added(), 2);
}

TEST(SequenceTemplate, GivesTheSecondTextOfAPairAndItsEndTheSecondType) {
  EXPECT_EQ(bert().types(bert().pair(Ids{7}, Ids{8, 9})), (Ids{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(bert().types(bert().single(Ids{7, 8})), (Ids{0, 0, 0, 0}));
  EXPECT_EQ(bert().types(Ids{}), Ids{});
  EXPECT_EQ(roberta().types(roberta().pair(Ids{7}, Ids{8})), Ids{});
  EXPECT_EQ(own_sequence().types(Ids{7, 3, 8, 3}), Ids{});
}

TEST(SequenceTemplate, CutsTheEndOfATextAndKeepsWhatStandsAroundIt) {
  const auto truncated = [](const SequenceTemplate& sequence, Ids ids, Index max_tokens) {
    sequence.truncate(ids, max_tokens);
    return ids;
  };
  EXPECT_EQ(truncated(own_sequence(), {5, 6, 7, 3}, 3), (Ids{5, 6, 3}));
  EXPECT_EQ(truncated(own_sequence(), {5, 6, 7, 3}, 4), (Ids{5, 6, 7, 3}));
  EXPECT_EQ(truncated(bert(), {cls, 5, 6, 7, sep}, 3), (Ids{cls, 5, sep}));
  EXPECT_EQ(truncated(bert(), {cls, 5, 6, 7, sep}, 1), (Ids{cls, sep}));
}

TEST(SequenceTemplate, CutsTheLongerTextOfAPairFirst) {
  const auto truncated = [](const SequenceTemplate& sequence, Ids ids, Index max_tokens) {
    sequence.truncate_pair(ids, max_tokens);
    return ids;
  };
  const Ids pair = bert().pair(Ids{11, 12, 13, 14}, Ids{21, 22});
  EXPECT_EQ(truncated(bert(), pair, 9), pair);
  EXPECT_EQ(truncated(bert(), pair, 8), bert().pair(Ids{11, 12, 13}, Ids{21, 22}));
  EXPECT_EQ(truncated(bert(), pair, 5), bert().pair(Ids{11}, Ids{21}));
  EXPECT_EQ(truncated(roberta(), roberta().pair(Ids{11, 12}, Ids{21, 22, 23}), 7),
            roberta().pair(Ids{11, 12}, Ids{21}));
  const SequenceTemplate plain;
  EXPECT_EQ(truncated(plain, {1, 2, 3, 4}, 3), (Ids{1, 2, 3}));
}

TEST(SequenceTemplate, RefusesAPairWithoutATemplateForOne) {
  SequenceTemplate single = bert();
  single.between.reset();
  expect_error(ErrorKind::model,
               "tokenizer: expected a template for pairs of texts, found one for single texts",
               [&] { single.pair(Ids{7}, Ids{8}); });
}

}  // namespace
}  // namespace heed::text
