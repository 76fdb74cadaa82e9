#include "heed/train/memory_need.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "io/expect_error.h"

namespace heed::train {
namespace {

TEST(MemoryNeed, CountsGradientsMomentsAndTheMovingAverage) {
  TrainingOptions options;
  EXPECT_EQ(optimizer_bytes(1000, options), 12000);
  options.ema = 0.9;
  EXPECT_EQ(optimizer_bytes(1000, options), 16000);
}

TEST(MemoryNeed, RefusesWhatDoesNotFitWithItsSize) {
  EXPECT_NO_THROW(check_memory(1000, "weights", 1000));
  EXPECT_NO_THROW(check_memory(Index{1} << 60, "weights", std::nullopt));
  io::expect_error(ErrorKind::failed,
                   "training: expected 41.3 GB of memory for weights, found 22.0 GB",
                   [] { check_memory(41'300'000'000, "weights", 22'000'000'000); });
}

TEST(MemoryNeed, OfAModelIsKnownBeforeItIsMade) {
  models::TransformerConfig config;
  config.vocabulary = 100;
  const Index count = models::num_parameters(config);
  TrainingOptions options;
  EXPECT_NO_THROW(check_memory_for(config, options, 16 * count));
  EXPECT_THROW(check_memory_for(config, options, 16 * count - 1), Error);
  options.freeze = "encoder";  // of which there are no gradients
  EXPECT_NO_THROW(check_memory_for(config, options, 4 * count));
  EXPECT_THROW(check_memory_for(config, options, 4 * count - 1), Error);
}

}  // namespace
}  // namespace heed::train
