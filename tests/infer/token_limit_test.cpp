#include "heed/infer/token_limit.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace heed::infer {
namespace {

using Ids = std::vector<int>;

TEST(TokenLimit, LeavesWhatFitsAsItIs) {
  Ids ids{5, 6, 7};
  EXPECT_FALSE(fit(ids, 1, {.max_tokens = 3, .what = "a text", .cut = Cut::end, .truncate = true}));
  EXPECT_EQ(ids, (Ids{5, 6, 7}));
}

TEST(TokenLimit, CutsTheSideThatItNames) {
  Ids ids{5, 6, 7};
  EXPECT_TRUE(fit(ids, 1, {.max_tokens = 2, .what = "a text", .cut = Cut::end, .truncate = true}));
  EXPECT_EQ(ids, (Ids{5, 6}));
  EXPECT_TRUE(
      fit(ids, 1, {.max_tokens = 1, .what = "a text", .cut = Cut::beginning, .truncate = true}));
  EXPECT_EQ(ids, (Ids{6}));
}

TEST(TokenLimit, NamesTheLineAndWhatWouldHelp) {
  Ids ids{5, 6, 7};
  expect_error(ErrorKind::data,
               "line 4: expected a source of at most 2 tokens, found 3 (`truncate` cuts the end)",
               [&] { fit(ids, 4, {.max_tokens = 2, .what = "a source", .cut = Cut::end}); });
  expect_error(
      ErrorKind::data,
      "prompt 9: expected a text of at most 2 tokens, found 3 (`truncate` cuts the beginning)",
      [&] {
        fit(ids, 9, {.max_tokens = 2, .what = "a text", .unit = "prompt", .cut = Cut::beginning});
      });
  expect_error(ErrorKind::data, "line 1: expected a prefix of at most 0 tokens, found 3",
               [&] { fit(ids, 1, {.max_tokens = 0, .what = "a prefix"}); });
  EXPECT_EQ(ids, (Ids{5, 6, 7}));
}

TEST(TokenLimit, IsThatOfLearnedPositionsOrOneForAllOtherModels) {
  models::TransformerConfig config;
  config.max_positions = 12;
  config.positions = models::Positions::learned;
  EXPECT_EQ(max_positions(config), 12);
  EXPECT_EQ(max_text_tokens(config), 12);
  config.positions = models::Positions::sinusoidal;
  EXPECT_GT(max_positions(config), Index{1} << 60);
  EXPECT_EQ(max_text_tokens(config), 32768);
}

TEST(TokenLimit, OfAModelThatWasTrainedOnTruncatedSourcesCutsEveryText) {
  models::TransformerConfig config;
  EXPECT_EQ(source_limit(config, "a source", false).max_tokens, 32767);
  EXPECT_FALSE(source_limit(config, "a source", false).truncate);
  config.truncate_source = 4;
  Ids ids{5, 6, 7, 8};
  EXPECT_TRUE(fit(ids, 1, source_limit(config, "a source", false)));
  EXPECT_EQ(ids, (Ids{5, 6, 7}));  // and the end token
}

}  // namespace
}  // namespace heed::infer
