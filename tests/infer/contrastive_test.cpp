#include "heed/infer/contrastive.h"

#include <gtest/gtest.h>

#include "infer/memorised_translator.h"
#include "support/expect_error.h"

namespace heed::infer {
namespace {

PairScorer scorer() { return {word_by_word_model().model, word_by_word_model().tokenizer}; }

std::vector<data::ContrastiveItem> items() {
  return {{.line = 2,
           .source = "two three",
           .target = "zwei drei",
           .contrastive = {"drei zwei", "zwei", "zwei vier"}},
          {.line = 4, .source = "one", .target = "vier", .contrastive = {"drei", "eins"}},
          {.line = 7, .source = "four", .target = "vier", .contrastive = {"vier"}}};
}

TEST(Contrastive, RanksTranslationsByTheirLogProbability) {
  const auto scores = score_contrastive(scorer(), items());
  ASSERT_EQ(scores.size(), 3u);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const data::ContrastiveItem item = items()[i];
    EXPECT_EQ(scores[i].target, scorer().score(item.source, item.target).log_probability());
    ASSERT_EQ(scores[i].contrastive.size(), item.contrastive.size());
    for (std::size_t j = 0; j < item.contrastive.size(); ++j) {
      EXPECT_EQ(scores[i].contrastive[j],
                scorer().score(item.source, item.contrastive[j]).log_probability());
    }
  }
  EXPECT_TRUE(scores[0].is_right());
  EXPECT_FALSE(scores[1].is_right());  // one of two is likelier
  EXPECT_FALSE(scores[2].is_right());  // a tie
}

TEST(Contrastive, ComparesMeansOverTheTokensWhenNormalised) {
  const auto sums = score_contrastive(scorer(), items());
  const auto means = score_contrastive(scorer(), items(), {.normalize = true});
  EXPECT_EQ(means[0].target, sums[0].target / 3);  // two words and the end
  EXPECT_EQ(means[0].contrastive[1], sums[0].contrastive[1] / 2);
}

TEST(Contrastive, RefusesATextThatIsTooLongByTheLineOfItsItem) {
  models::TransformerConfig config = word_by_word_model().model.config();
  config.positions = models::Positions::learned;
  config.max_positions = 3;
  const PairScorer small(models::TranslationModel(config, 1), word_by_word_model().tokenizer);
  std::vector<data::ContrastiveItem> all = items();
  all[1].contrastive.push_back("eins eins eins");
  expect_error(ErrorKind::data,
               "line 4: expected a start and a target of at most 3 tokens, found 4 (`truncate` "
               "cuts the end)",
               [&] { score_contrastive(small, all); });
  EXPECT_EQ(score_contrastive(small, all, {.truncate = true}).size(), 3u);
}

}  // namespace
}  // namespace heed::infer
