#include "heed/train/averaging.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "heed/base/error.h"
#include "heed/io/files.h"
#include "support/same_bits.h"
#include "support/temporary_folder.h"

namespace heed::train {
namespace {

Weights weights(float first, float second) {
  return {{"a", Tensor::from({first, second}, {2})}, {"b", Tensor::full({3, 3}, first)}};
}

TEST(MovingAverage, ForgetsFasterAtFirst) {
  MovingAverage average(weights(0, 0), 0.9);
  average.update(weights(11, 22), 1);  // keeps 2/11
  EXPECT_NEAR(average.weights()[0].value.values()[0], 9.0, 1e-5);
  EXPECT_NEAR(average.weights()[0].value.values()[1], 18.0, 1e-5);
  average.update(weights(19, 28), 1000);  // keeps 0.9
  EXPECT_NEAR(average.weights()[0].value.values()[0], 10.0, 1e-5);
  EXPECT_NEAR(average.weights()[1].value.values()[8], 10.0, 1e-5);
}

TEST(MovingAverage, HasItsOwnValues) {
  Weights model = weights(1, 2);
  MovingAverage average(model, 0.9);
  average.update(weights(5, 5), 1);
  EXPECT_EQ(model[0].value.values()[0], 1);
}

TEST(Snapshots, AverageTheLastFew) {
  const TemporaryFolder folder;
  Snapshots snapshots(folder.path(), 2);
  snapshots.add(10, weights(100, 100));
  EXPECT_EQ(snapshots.average(10, weights(100, 100))[0].value.values()[0], 100);
  snapshots.add(20, weights(1, 2));
  snapshots.add(30, weights(3, 6));
  const Weights mean = snapshots.average(30, weights(3, 6));
  EXPECT_EQ(values_of(mean[0].value), (std::vector<float>{2, 4}));
  EXPECT_EQ(values_of(mean[1].value), std::vector<float>(9, 2));
}

TEST(Snapshots, WeightsBetweenTwoCheckpointsCountAsTheNewest) {
  const TemporaryFolder folder;
  Snapshots snapshots(folder.path(), 2);
  snapshots.add(10, weights(100, 100));
  snapshots.add(20, weights(1, 2));
  EXPECT_EQ(snapshots.average(25, weights(5, 6))[0].value.values()[0], 3);
  EXPECT_EQ(snapshots.average(25, weights(5, 6))[0].value.values()[1], 4);
}

TEST(Snapshots, KeepTheirFilesUntilToldThatNobodyListsThem) {
  const TemporaryFolder folder;
  Snapshots snapshots(folder.path(), 1);
  snapshots.add(10, weights(1, 1));
  snapshots.add(20, weights(2, 2));
  EXPECT_EQ(folder.num_files(), 2u);
  snapshots.delete_forgotten();
  EXPECT_EQ(folder.num_files(), 1u);
  EXPECT_EQ(snapshots.average(20, weights(0, 0))[0].value.values()[0], 2);
}

TEST(Snapshots, GoOnFromTheListOfACheckpoint) {
  const TemporaryFolder folder;
  Snapshots(folder.path(), 3).add(10, weights(1, 1));
  Snapshots later(folder.path(), 3, {10});
  later.add(20, weights(3, 3));
  EXPECT_EQ(later.average(20, weights(3, 3))[0].value.values()[0], 2);
}

TEST(Snapshots, RefuseADamagedFile) {
  const TemporaryFolder folder;
  Snapshots snapshots(folder.path(), 2);
  snapshots.add(10, weights(1, 2));
  const std::string path = folder.file("weights-10.safetensors");
  std::string bytes = io::read_file(path);
  bytes.back() ^= 1;
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_THROW(snapshots.average(10, weights(1, 2)), Error);
}

TEST(BorrowedWeights, ComeAndGo) {
  Weights model = weights(1, 2);
  {
    BorrowedWeights borrowed(model, weights(7, 8));
    EXPECT_EQ(model[0].value.values()[1], 8);
    borrowed.swap();
    EXPECT_EQ(model[0].value.values()[1], 2);
    borrowed.swap();
    EXPECT_EQ(model[0].value.values()[1], 8);
  }
  EXPECT_EQ(model[0].value.values()[1], 2);
}

}  // namespace
}  // namespace heed::train
