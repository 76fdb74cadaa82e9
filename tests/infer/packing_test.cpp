#include "heed/infer/packing.h"

#include <gtest/gtest.h>

namespace heed::infer {
namespace {

using Ids = std::vector<int>;

TEST(PackInputs, TheTokensOfAPairHaveTheTypesOfTheirTexts) {
  const text::SequenceTemplate bert{
      .prefix = {2}, .suffix = {3}, .between = Ids{3}, .second_type = 1};
  const Ids pair = bert.pair(Ids{7, 8}, Ids{9}), single = bert.single(Ids{7});
  const std::vector<std::span<const int>> inputs{pair, single};
  const models::PackedIds packed = pack_inputs(inputs, bert);
  EXPECT_EQ(packed.ids, (Ids{2, 7, 8, 3, 9, 3, 2, 7, 3}));
  EXPECT_EQ(packed.types, (Ids{0, 0, 0, 0, 1, 1, 0, 0, 0}));
  EXPECT_EQ(packed.spans.count(), 2);
  EXPECT_TRUE(pack_inputs(inputs, text::own_sequence()).types.empty());
}

TEST(PackSources, EndAndStartAsTheModelSays) {
  const std::vector<Ids> sentences{{7, 8}};
  const text::SpecialTokens marian{.pad = 50, .ends = {0}, .decoder_start = 50};
  EXPECT_EQ(pack_sources(sentences, marian).ids, (Ids{7, 8, 0}));
  EXPECT_EQ(pack_targets(sentences, marian).ids, (Ids{50, 7, 8}));
  EXPECT_EQ(pack_sources(sentences).ids, (Ids{7, 8, 3}));
  EXPECT_EQ(pack_targets(sentences).ids, (Ids{3, 7, 8}));
}

}  // namespace
}  // namespace heed::infer
