#include "heed/nn/positions.h"

#include <gtest/gtest.h>

#include <thread>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "nn/module_parameters.h"
#include "support/same_bits.h"

namespace heed::nn {
namespace {

PositionEmbedding position_embedding(Positions positions) {
  Rng rng(1);
  return PositionEmbedding({.positions = positions, .dim = 6, .max_positions = 8}, rng);
}

TEST(PositionEmbedding, OnlyLearnedPositionsHaveParameters) {
  for (const Positions positions :
       {Positions::sinusoidal, Positions::rotary, Positions::alibi, Positions::none}) {
    PositionEmbedding layer = position_embedding(positions);
    EXPECT_TRUE(parameter_names(layer).empty());
  }
  PositionEmbedding learned = position_embedding(Positions::learned);
  EXPECT_EQ(parameter_names(learned), (std::vector<std::string>{"weight"}));
}

TEST(PositionEmbedding, AddsTheRowOfEachPositionFromThePastOn) {
  const Packed x{sample({5, 6}), Spans::of_lengths(std::vector<Index>{3, 2})};
  const std::vector<Index> past{0, 4};
  PositionEmbedding learned = position_embedding(Positions::learned);
  const Tensor table = named_parameters(learned).front().value;
  const Tensor sinusoids = shared_sinusoidal_table(8, 6);
  const Tensor by_table = learned.forward(x, past);
  const Tensor by_sinusoid = position_embedding(Positions::sinusoidal).forward(x, past);
  const Index positions[] = {0, 1, 2, 4, 5};
  for (Index i = 0; i < 5; ++i) {
    for (Index j = 0; j < 6; ++j) {
      const float value = x.values.values()[i * 6 + j];
      EXPECT_EQ(by_table.values()[i * 6 + j], value + table.values()[positions[i] * 6 + j]);
      EXPECT_EQ(by_sinusoid.values()[i * 6 + j], value + sinusoids.values()[positions[i] * 6 + j]);
    }
  }
}

TEST(PositionEmbedding, AnOffsetMovesThePositionsInATableThatIsSoMuchLonger) {
  Rng rng(1);
  PositionEmbedding learned(
      {.positions = Positions::learned, .dim = 6, .max_positions = 8, .offset = 2}, rng);
  const Tensor table = named_parameters(learned).front().value;
  EXPECT_EQ(table.shape(), (Shape{10, 6}));
  const Packed zeros{Tensor::zeros({8, 6}), Spans::single(8)};
  EXPECT_TRUE(same_bits(learned.forward(zeros), rows_of(table, 2, 8)));
  const Packed two{Tensor::zeros({2, 6}), Spans::single(2)};
  const std::vector<Index> past{5};
  EXPECT_TRUE(same_bits(learned.forward(two, past), rows_of(table, 7, 2)));
  EXPECT_THROW(learned.forward({Tensor::zeros({9, 6}), Spans::single(9)}), Error);
}

TEST(PositionEmbedding, SinusoidsMayBeInHalvesAndHaveAnOffset) {
  Rng rng(1);
  const PositionEmbedding marian({.positions = Positions::sinusoidal,
                                  .offset = 3,
                                  .sinusoid_order = ops::SinusoidOrder::halves},
                                 rng);
  const Packed zeros{Tensor::zeros({4, 6}), Spans::single(4)};
  const Tensor table = ops::sinusoidal_table(7, 6, ops::SinusoidOrder::halves);
  EXPECT_TRUE(same_bits(marian.forward(zeros), rows_of(table, 3, 4)));
}

TEST(PositionEmbedding, SchemesInsideAttentionAddNothing) {
  const Packed x{sample({3, 6}), Spans::single(3)};
  for (const Positions positions : {Positions::rotary, Positions::alibi, Positions::none}) {
    EXPECT_TRUE(same_bits(position_embedding(positions).forward(x), x.values));
  }
}

TEST(PositionEmbedding, RefusesMorePositionsThanItHasLearned) {
  const Packed x{sample({9, 6}), Spans::single(9)};
  EXPECT_THROW(position_embedding(Positions::learned).forward(x), Error);
  EXPECT_NO_THROW(position_embedding(Positions::sinusoidal).forward(x));
}

TEST(SharedTables, GrowWithoutChangingWhatWasThere) {
  const Tensor small = shared_sinusoidal_table(3, 10);
  const Tensor large = shared_sinusoidal_table(small.dim(0) + 1, 10);
  EXPECT_GT(large.dim(0), small.dim(0));
  EXPECT_TRUE(same_bits(rows_of(large, 0, small.dim(0)), small));
  EXPECT_EQ(shared_sinusoidal_table(2, 10).data(), large.data());  // computed once

  const ops::RotaryTable few = shared_rotary_table(3, {.dim = 10});
  const ops::RotaryTable many = shared_rotary_table(few.cos.dim(0) + 1, {.dim = 10});
  EXPECT_TRUE(same_bits(rows_of(many.cos, 0, few.cos.dim(0)), few.cos));
  EXPECT_TRUE(same_bits(rows_of(many.sin, 0, few.sin.dim(0)), few.sin));
  EXPECT_EQ(shared_rotary_table(2, {.dim = 10}).cos.data(), many.cos.data());
  const ops::RotaryTable slow = shared_rotary_table(2, {.dim = 10, .base = 1000});
  EXPECT_FALSE(same_bits(rows_of(slow.cos, 0, 2), rows_of(many.cos, 0, 2)));
}

TEST(SharedTables, MayBeAskedForByManyThreads) {
  std::vector<std::thread> threads;
  std::vector<Tensor> tables(8);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    threads.emplace_back(
        [&, i] { tables[i] = shared_sinusoidal_table(100 * static_cast<Index>(i + 1), 12); });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < tables.size(); ++i) {
    EXPECT_GE(tables[i].dim(0), 100 * static_cast<Index>(i + 1));
    EXPECT_TRUE(same_bits(rows_of(tables[i], 0, 100), rows_of(tables.back(), 0, 100)));
  }
}

}  // namespace
}  // namespace heed::nn
