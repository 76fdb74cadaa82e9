#include "heed/train/translation_task.h"

#include <gtest/gtest.h>

namespace heed::train {
namespace {

using Lines = std::vector<std::string>;

TEST(TranslationTask, LaySequencesEndToEndAndMoveTheTargetByOne) {
  const auto tokenizer = text::Tokenizer::train(
      Lines{"red green blue"}, {.vocabulary = 20, .subwords = text::Subwords::word});
  const auto corpus = data::TranslationCorpus::tokenize(
      Lines{"red", "green blue", "blue"}, Lines{"blue red", "green", "red"}, tokenizer);
  const int red = tokenizer.encode("red").at(0), green = tokenizer.encode("green").at(0);
  const int blue = tokenizer.encode("blue").at(0), end = text::own_tokens::end;

  const std::vector<Index> pairs{1, 0};
  const models::TranslationBatch batch = make_batch(corpus, pairs);
  EXPECT_EQ(batch.source.ids, (std::vector<int>{green, blue, end, red, end}));
  EXPECT_EQ(batch.target_input.ids, (std::vector<int>{end, green, end, blue, red}));
  EXPECT_EQ(batch.target_output, (std::vector<int>{green, end, blue, red, end}));
  EXPECT_EQ(batch.num_target_tokens(), 5);
  ASSERT_EQ(batch.source.spans.count(), 2);
  EXPECT_EQ(batch.source.spans[1].begin, 3);
  EXPECT_EQ(batch.source.spans[1].length, 2);
  EXPECT_EQ(batch.target_input.spans[1].begin, 2);
  EXPECT_EQ(batch.target_input.spans[1].length, 3);
}

}  // namespace
}  // namespace heed::train
