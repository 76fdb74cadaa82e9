#include "heed/ops/embedding.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/packed_matrix.h"
#include "support/gradient_check.h"
#include "support/reference.h"
#include "support/same_bits.h"

namespace heed {
namespace {

const std::vector<int> ids = {2, 0, 2, 4, 2, 1, 0};  // repeats, and one row (3) that nobody takes

TEST(Embedding, TakesRowsOfTheTable) {
  const Tensor table = Tensor::from({1, 2, 3, 4, 5, 6}, {3, 2});
  const std::vector<int> rows = {2, 0, 2};
  EXPECT_EQ(values_of(ops::embedding(table, rows, 2)), (std::vector<float>{10, 12, 2, 4, 10, 12}));
  const std::vector<Index> order = {1, 1};
  EXPECT_EQ(values_of(ops::gather_rows(table, order)), (std::vector<float>{3, 4, 3, 4}));
}

TEST(Embedding, APackedTableGivesTheBitsOfItsWidenedOne) {
  for (const WeightFormat format : {WeightFormat::f32, WeightFormat::f16, WeightFormat::bf16,
                                    WeightFormat::int8, WeightFormat::int4}) {
    const ops::PackedMatrix table(sample({5, 70}), format);
    EXPECT_TRUE(
        same_bits(ops::embedding(table, ids, 1.5f), ops::embedding(table.dequantize(), ids, 1.5f)));
    EXPECT_THROW(ops::embedding(table, std::vector<int>{5}), Error);
    EXPECT_THROW(ops::embedding(table, std::vector<int>{-1}), Error);
  }
}

TEST(Embedding, ValuesAndGradientsMatchTheReference) {
  const std::vector<Index> rows(ids.begin(), ids.end());
  for (const Index dim : {1, 3, 17, 64}) {
    SCOPED_TRACE(dim);
    expect_matches_reference(
        [](const Inputs& in) { return ops::embedding(in[0], ids, 1.5f); },
        [](const auto& in) { return reference::embedding(in[0], std::span(ids), 1.5); },
        {sample({5, dim})});
    expect_matches_reference(
        [&](const Inputs& in) { return ops::gather_rows(in[0], rows); },
        [&](const auto& in) { return reference::gather_rows(in[0], std::span(rows)); },
        {sample({5, dim})});
  }
}

TEST(Embedding, ManyIdsMatchTheReference) {
  Rng rng(1);
  std::vector<int> many(3000);
  for (int& id : many) id = static_cast<int>(rng.below(50));
  expect_matches_reference(
      [&](const Inputs& in) { return ops::embedding(in[0], many); },
      [&](const auto& in) { return reference::embedding(in[0], std::span(many), 1); },
      {sample({50, 33})});
}

TEST(Embedding, TheReferencesHaveTheRightGradients) {
  expect_gradient_is_right(
      [](const auto& in) { return reference::embedding(in[0], std::span(ids), 1.5); },
      {sample({5, 3})});
}

TEST(Embedding, AFrozenRowGetsNoGradient) {
  Tensor table = sample({5, 3});
  table.require_gradient();
  backward(ops::sum(ops::embedding(table, ids, 2, /*frozen=*/2)));
  EXPECT_EQ(values_of(table.gradient()),
            (std::vector<float>{4, 4, 4, 2, 2, 2, 0, 0, 0, 0, 0, 0, 2, 2, 2}));
}

TEST(Embedding, NoIdsGiveNoRows) {
  EXPECT_EQ(ops::embedding(sample({5, 3}), {}).shape(), (Shape{0, 3}));
}

TEST(Embedding, RefusesIdsOutsideTheTable) {
  const Tensor table = Tensor::zeros({3, 2});
  EXPECT_THROW(ops::embedding(table, std::vector<int>{0, 3}), Error);
  EXPECT_THROW(ops::embedding(table, std::vector<int>{-1}), Error);
  EXPECT_THROW(ops::gather_rows(table, std::vector<Index>{3}), Error);
  EXPECT_THROW(ops::embedding(Tensor::zeros({3}), std::vector<int>{0}), Error);
}

TEST(PrependRow, ValuesAndGradientsMatchTheReference) {
  const Spans spans = Spans::of_lengths(std::vector<Index>{2, 0, 3});
  const Packed longer = ops::prepend_row(sample({1, 4}), {sample({5, 4}, 2), spans});
  EXPECT_EQ(longer.spans.count(), 3);
  EXPECT_EQ(longer.spans[2].begin, 4);
  EXPECT_EQ(longer.spans[2].length, 4);
  const auto expected = [&](const auto& in) { return reference::prepend_row(in[0], in[1], spans); };
  expect_matches_reference(
      [&](const Inputs& in) {
        return ops::prepend_row(in[0], {in[1], spans}).values;
      },
      expected, {sample({1, 4}), sample({5, 4}, 2)});
  EXPECT_THROW(ops::prepend_row(sample({1, 3}), {sample({5, 4}), spans}), Error);
}

}  // namespace
}  // namespace heed
