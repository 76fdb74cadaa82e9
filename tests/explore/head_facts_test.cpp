#include "heed/explore/head_facts.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/error.h"
#include "heed/base/index.h"

namespace heed::explore {
namespace {

// One head, [queries, keys], from a function of the cell.
template <typename Weight>
HeadFact fact_of(Index queries, Index keys, LinkKind kind, Weight weight) {
  Tensor weights = Tensor::empty({1, queries, keys});
  for (Index i = 0; i < queries; ++i) {
    for (Index j = 0; j < keys; ++j) {
      weights.data()[i * keys + j] = static_cast<float>(weight(i, j));
    }
  }
  return head_facts(weights, kind).front();
}

TEST(HeadFacts, NamesThePlaceThatAHeadLooksAt) {
  const auto label = [](LinkKind kind, auto weight) { return fact_of(5, 5, kind, weight).label; };
  EXPECT_EQ(label(LinkKind::own, [](Index i, Index j) { return j == std::max<Index>(i - 1, 0); }),
            "previous token");
  EXPECT_EQ(label(LinkKind::own, [](Index i, Index j) { return j == std::min<Index>(i + 1, 4); }),
            "next token");
  EXPECT_EQ(label(LinkKind::own, [](Index i, Index j) { return i == j; }), "same token");
  EXPECT_EQ(label(LinkKind::own, [](Index, Index j) { return j == 0; }), "first token");
  EXPECT_EQ(label(LinkKind::own, [](Index, Index j) { return j == 4; }), "last token");
  EXPECT_EQ(label(LinkKind::cross, [](Index, Index j) { return j == 4; }), "last token");
}

TEST(HeadFacts, TheShareIsTheMeanWeightOfThePlace) {
  const HeadFact fact =
      fact_of(5, 5, LinkKind::own, [](Index i, Index j) { return i == j ? 0.6 : 0.1; });
  EXPECT_EQ(fact.label, "same token");
  EXPECT_NEAR(fact.share, 0.6, 1e-6);
  EXPECT_NEAR(fact.entropy, -0.6 * std::log2(0.6) - 4 * 0.1 * std::log2(0.1), 1e-6);
}

TEST(HeadFacts, EqualWeightsAreBroad) {
  const HeadFact all = fact_of(4, 8, LinkKind::cross, [](Index, Index) { return 0.125; });
  EXPECT_EQ(all.label, "broad");
  EXPECT_NEAR(all.share, 1, 1e-6);
  EXPECT_NEAR(all.entropy, 3, 1e-6);
  const HeadFact seen = fact_of(6, 6, LinkKind::causal, [](Index i, Index j) {
    return j <= i ? 1.0 / static_cast<double>(i + 1) : 0.0;
  });
  EXPECT_EQ(seen.label, "broad");
  EXPECT_NEAR(seen.share, 1, 1e-6);
}

TEST(HeadFacts, CrossAttentionIsAlignedWhenItLooksAtOneKeyAtATimeAndMovesOn) {
  const auto mostly = [](Index key) {
    return [key](Index, Index j) { return j == key ? 0.45 : 0.55 / 4; };
  };
  const HeadFact aligned =
      fact_of(5, 5, LinkKind::cross, [](Index i, Index j) { return j == 4 - i ? 0.6 : 0.1; });
  EXPECT_EQ(aligned.label, "aligned");
  EXPECT_NEAR(aligned.share, 0.6, 1e-6);
  EXPECT_EQ(fact_of(5, 5, LinkKind::cross, mostly(2)).label, "broad");  // it does not move
  EXPECT_EQ(
      fact_of(5, 5, LinkKind::own, [](Index i, Index j) { return j == 4 - i ? 0.6 : 0.1; }).label,
      "mixed");
}

TEST(HeadFacts, WhatIsNothingElseIsMixed) {
  const HeadFact fact = fact_of(6, 6, LinkKind::own, [](Index i, Index j) {
    return (j == (i + 2) % 6 || j == (i + 3) % 6) ? 0.5 : 0.0;
  });
  EXPECT_EQ(fact.label, "mixed");
  EXPECT_NEAR(fact.share, 0.5, 1e-6);
  EXPECT_NEAR(fact.entropy, 1, 1e-6);
}

// It sees one key only, whatever the head is for.
TEST(HeadFacts, TheFirstQueryOfCausalAttentionDoesNotCount) {
  const HeadFact fact = fact_of(3, 3, LinkKind::causal,
                                [](Index i, Index j) { return i == 0 ? j == 0 : j == i - 1; });
  EXPECT_EQ(fact.label, "previous token");
  EXPECT_NEAR(fact.share, 1, 1e-6);
}

TEST(HeadFacts, HeadsHaveFactsOfTheirOwn) {
  const Tensor weights =
      Tensor::from({1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1}, {2, 3, 3});
  const auto facts = head_facts(weights, LinkKind::own);
  ASSERT_EQ(facts.size(), 2u);
  EXPECT_EQ(facts[0].label, "same token");
  EXPECT_EQ(facts[1].label, "last token");
  EXPECT_EQ(facts[0].entropy, 0);
}

TEST(HeadFacts, RefusesWhatAreNoWeightsOfHeads) {
  EXPECT_THROW(head_facts(Tensor::zeros({3, 3}), LinkKind::own), Error);
}

}  // namespace
}  // namespace heed::explore
