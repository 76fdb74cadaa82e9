#include "heed/models/packed_ids.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"

namespace heed::models {
namespace {

const std::vector<std::vector<int>> sentences = {{7, 8, 9}, {}, {4}};

std::vector<std::pair<Index, Index>> places(const Spans& spans) {
  std::vector<std::pair<Index, Index>> all;
  for (const Span& span : spans) all.emplace_back(span.begin, span.length);
  return all;
}

using Places = std::vector<std::pair<Index, Index>>;

TEST(PackedIds, LieEndToEndInTheirOrder) {
  const PackedIds packed = pack(sentences);
  EXPECT_EQ(packed.ids, (std::vector<int>{7, 8, 9, 4}));
  EXPECT_EQ(places(packed.spans), (Places{{0, 3}, {3, 0}, {3, 1}}));
}

TEST(PackedIds, GetTokensBeforeAndAfterEachSequence) {
  const PackedIds prepended = pack(sentences, {.prepend = 1});
  EXPECT_EQ(prepended.ids, (std::vector<int>{1, 7, 8, 9, 1, 1, 4}));
  EXPECT_EQ(places(prepended.spans), (Places{{0, 4}, {4, 1}, {5, 2}}));

  const PackedIds both = pack(sentences, {.prepend = 1, .append = 2});
  EXPECT_EQ(both.ids, (std::vector<int>{1, 7, 8, 9, 2, 1, 2, 1, 4, 2}));
  EXPECT_EQ(places(both.spans), (Places{{0, 5}, {5, 2}, {7, 3}}));
}

TEST(PackedIds, TakePartsOfOtherSequences) {
  const std::vector<std::span<const int>> parts = {std::span(sentences[0]).last(2), sentences[2]};
  const PackedIds packed = pack(parts, {.append = 2});
  EXPECT_EQ(packed.ids, (std::vector<int>{8, 9, 2, 4, 2}));
  EXPECT_EQ(places(packed.spans), (Places{{0, 3}, {3, 2}}));
}

TEST(PackedIds, KeepTypesAndGiveThemToTokensBeforeAndAfter) {
  const std::vector<int> ids{7, 8, 9}, types{0, 1, 2}, other{4};
  const std::vector<TokenSequence> parts{{ids, types}, {other}};
  EXPECT_EQ(pack(parts).types, (std::vector<int>{0, 1, 2, 0}));
  const PackedIds both = pack(parts, {.prepend = 1, .append = 2});
  EXPECT_EQ(both.ids, (std::vector<int>{1, 7, 8, 9, 2, 1, 4, 2}));
  EXPECT_EQ(both.types, (std::vector<int>{0, 0, 1, 2, 2, 0, 0, 0}));
  EXPECT_TRUE(pack(sentences).types.empty());
  EXPECT_THROW(pack(std::vector<TokenSequence>{{ids, other}}), Error);
}

TEST(PackedIds, GetATokenBeforeEachOfThem) {
  const std::vector<int> ids{7, 8}, types{1, 2};
  const PackedIds typed = prepend(5, pack(std::vector<TokenSequence>{{ids, types}}));
  EXPECT_EQ(typed.ids, (std::vector<int>{5, 7, 8}));
  EXPECT_EQ(typed.types, (std::vector<int>{1, 1, 2}));
  EXPECT_EQ(prepend(1, pack(sentences)).ids, pack(sentences, {.prepend = 1}).ids);
}

TEST(PackedIds, OfNothingAreNone) {
  const PackedIds packed = pack(std::vector<std::vector<int>>{}, {.prepend = 1});
  EXPECT_TRUE(packed.ids.empty());
  EXPECT_EQ(packed.spans.count(), 0);
}

}  // namespace
}  // namespace heed::models
