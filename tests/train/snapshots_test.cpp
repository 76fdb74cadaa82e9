#include "heed/train/snapshots.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <limits>

#include "heed/base/error.h"
#include "heed/io/files.h"
#include "heed/io/sha256.h"
#include "support/same_bits.h"
#include "support/temporary_folder.h"

namespace heed::train {
namespace {

using Updates = std::vector<Index>;

Weights weights(float first, float second) {
  return {{"a", Tensor::from({first, second}, {2})}, {"b", Tensor::full({3, 3}, first)}};
}

TEST(Snapshots, AverageTheLastFew) {
  const TemporaryFolder folder;
  Snapshots snapshots(folder.path(), {.averaged = 2});
  snapshots.add(10, weights(100, 100));
  EXPECT_FALSE(snapshots.has_averaged_before(10));
  EXPECT_EQ(snapshots.average(10, weights(100, 100))[0].value.values()[0], 100);
  snapshots.add(20, weights(1, 2));
  EXPECT_TRUE(snapshots.has_averaged_before(20));
  snapshots.add(30, weights(3, 6));
  const Weights mean = snapshots.average(30, weights(3, 6));
  EXPECT_EQ(values_of(mean[0].value), (std::vector<float>{2, 4}));
  EXPECT_EQ(values_of(mean[1].value), std::vector<float>(9, 2));
}

TEST(Snapshots, WeightsBetweenTwoCheckpointsCountAsTheNewest) {
  const TemporaryFolder folder;
  Snapshots snapshots(folder.path(), {.averaged = 2});
  snapshots.add(10, weights(100, 100));
  snapshots.add(20, weights(1, 2));
  EXPECT_EQ(snapshots.average(25, weights(5, 6))[0].value.values()[0], 3);
  EXPECT_EQ(snapshots.average(25, weights(5, 6))[0].value.values()[1], 4);
}

TEST(Snapshots, KeepTheirFilesUntilToldThatNobodyListsThem) {
  const TemporaryFolder folder;
  Snapshots snapshots(folder.path(), {.averaged = 1});
  snapshots.add(10, weights(1, 1));
  snapshots.add(20, weights(2, 2));
  EXPECT_EQ(folder.num_files(), 2u);
  snapshots.delete_unlisted();
  EXPECT_EQ(folder.num_files(), 1u);
  EXPECT_EQ(snapshots.average(20, weights(0, 0))[0].value.values()[0], 2);
}

TEST(Snapshots, KeepTheFilesThatAnotherCheckpointLists) {
  const TemporaryFolder folder;
  Snapshots snapshots(folder.path(), {.averaged = 1});
  for (const Index update : {10, 20, 30}) snapshots.add(update, weights(1, 1));
  snapshots.delete_unlisted({20});
  EXPECT_EQ(stored_snapshots(folder.path()), (Updates{20, 30}));
}

TEST(Snapshots, AreNotWrittenOfWeightsThatAreNotFinite) {
  const TemporaryFolder folder;
  Snapshots snapshots(folder.path(), {.averaged = 2, .kept = 2});
  EXPECT_THROW(snapshots.add(10, weights(1, std::numeric_limits<float>::infinity())), Error);
  EXPECT_EQ(folder.num_files(), 0u);
  EXPECT_FALSE(snapshots.updates().contains(10));
}

TEST(Snapshots, GoOnFromTheListOfACheckpoint) {
  const TemporaryFolder folder;
  Snapshots(folder.path(), {.averaged = 3}).add(10, weights(1, 1));
  Snapshots later(folder.path(), {.averaged = 3}, {.averaged = {10}});
  later.add(20, weights(3, 3));
  EXPECT_EQ(later.average(20, weights(3, 3))[0].value.values()[0], 2);
}

TEST(Snapshots, RefuseADamagedFile) {
  const TemporaryFolder folder;
  Snapshots snapshots(folder.path(), {.averaged = 2});
  snapshots.add(10, weights(1, 2));
  const std::string path = folder.file("weights-10.safetensors");
  std::string bytes = io::read_file(path);
  bytes.back() ^= 1;
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_THROW(snapshots.average(10, weights(1, 2)), Error);
}

// A file as the first version wrote it: with a SHA-256 in its metadata.
std::string first_version_file(std::string_view sha256) {
  const std::string header =
      R"({"__metadata__":{"sha256":")" + std::string(sha256) +
      R"(","update":"10"},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  const std::uint64_t length = header.size();
  const float values[] = {1, 2};
  std::string bytes(8 + header.size() + 8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  header.copy(bytes.data() + 8, header.size());
  std::memcpy(bytes.data() + 8 + header.size(), values, 8);
  return bytes;
}

TEST(Snapshots, OfTheFirstVersionAreReadAndTheirChecksumIsCompared) {
  const TemporaryFolder folder;
  const float values[] = {1, 2};
  io::Sha256 hash;
  hash.update(
      std::string_view("update\0"
                       "10\0"
                       "w",
                       11));
  hash.update(std::as_bytes(std::span(values)));
  const std::string path = folder.write("a", first_version_file(hash.hex_digest()));
  EXPECT_EQ(load_checked(path).to_floats(load_checked(path).require("w")),
            (std::vector<float>{1, 2}));
  const std::string damaged = folder.write("b", first_version_file(std::string(64, '0')));
  EXPECT_THROW(load_checked(damaged), Error);
}

TEST(Snapshots, ThoseForLookingBackSpanTheRunAndLoseNoneOfTheAverage) {
  const TemporaryFolder folder;
  Snapshots snapshots(folder.path(), {.averaged = 3, .kept = 4});
  snapshots.keep(0, weights(0, 0));
  for (Index update = 10; update <= 140; update += 10) {
    snapshots.add(update, weights(static_cast<float>(update), 1));
    snapshots.delete_unlisted();
  }
  EXPECT_EQ(snapshots.updates().averaged, (Updates{120, 130, 140}));
  EXPECT_EQ(snapshots.updates().kept, (Updates{0, 70, 130, 140}));
  EXPECT_EQ(stored_snapshots(folder.path()), (Updates{0, 70, 120, 130, 140}));
  EXPECT_EQ(snapshots.average(140, weights(0, 0))[0].value.values()[0], 130);
}

TEST(Snapshots, WeightsThatWereNeverTrainedAreNoPartOfAnAverage) {
  const TemporaryFolder folder;
  Snapshots snapshots(folder.path(), {.averaged = 3, .kept = 4});
  snapshots.keep(0, weights(100, 100));
  EXPECT_FALSE(snapshots.has_averaged_before(5));
  snapshots.add(10, weights(1, 2));
  EXPECT_EQ(snapshots.average(10, weights(1, 2))[0].value.values()[0], 1);
}

TEST(Snapshots, FewerThanARunWasBegunWithAreThinnedAtOnce) {
  const TemporaryFolder folder;
  const Snapshots snapshots(folder.path(), {.kept = 3}, {.kept = {0, 10, 20, 30, 40}});
  EXPECT_EQ(snapshots.updates().kept, (Updates{0, 20, 40}));
  const Snapshots none(folder.path(), {}, {.kept = {0, 10}});
  EXPECT_EQ(none.updates().kept, Updates{});
}

// Whatever the length of a run, what is left lies about evenly: no gap is much larger than the run
// divided by their number.
TEST(ThinUpdates, LeavesUpdatesThatSpanTheRunEvenly) {
  constexpr Index count = 12;
  Updates updates;
  for (Index update = 0; update <= 3000; ++update) {
    updates.push_back(update);
    thin_updates(updates, count);
    EXPECT_EQ(updates.front(), 0);
    EXPECT_EQ(updates.back(), update);
    if (update < count) continue;
    EXPECT_EQ(std::ssize(updates), count);
    Index widest = 0;
    for (std::size_t i = 1; i < updates.size(); ++i) {
      widest = std::max(widest, updates[i] - updates[i - 1]);
    }
    EXPECT_LE(widest * (count - 1), 2 * update + count) << update;
  }
}

TEST(ThinUpdates, OfOneTheNewestIsLeft) {
  Updates updates{0, 10, 20};
  thin_updates(updates, 1);
  EXPECT_EQ(updates, Updates{20});
  thin_updates(updates, 0);
  EXPECT_EQ(updates, Updates{});
}

TEST(StoredSnapshots, AreReadByUpdateAndOtherFilesAreLeftAlone) {
  const TemporaryFolder folder;
  Snapshots snapshots(folder.path(), {.kept = 5});
  snapshots.keep(9, weights(9, 9));
  snapshots.keep(10, weights(1, 2));
  for (const char* name : {"weights-.safetensors", "weights-x.safetensors", "weights-3.tmp"}) {
    folder.write(name, "");
  }
  EXPECT_EQ(stored_snapshots(folder.path()), (Updates{9, 10}));
  EXPECT_EQ(stored_snapshots(folder.file("nowhere")), Updates{});
  Weights read = weights(0, 0);
  read_snapshot(folder.path(), 10, read);
  EXPECT_EQ(values_of(read[0].value), (std::vector<float>{1, 2}));
  EXPECT_EQ(values_of(read[1].value), std::vector<float>(9, 1));
}

TEST(StoredSnapshots, LeaveWeightsThatTheyDoNotHave) {
  const TemporaryFolder folder;
  Snapshots(folder.path(), {.kept = 5}).keep(10, {weights(1, 2)[0]});
  Weights read = weights(7, 7);
  read_snapshot(folder.path(), 10, read);
  EXPECT_EQ(values_of(read[0].value), (std::vector<float>{1, 2}));
  EXPECT_EQ(values_of(read[1].value), std::vector<float>(9, 7));
}

TEST(StoredSnapshots, RefuseAnotherModelAndAnUpdateThatIsNotThere) {
  const TemporaryFolder folder;
  Snapshots(folder.path(), {.kept = 5}).keep(10, weights(1, 2));
  Weights other = {weights(0, 0)[0]};
  EXPECT_THROW(read_snapshot(folder.path(), 10, other), Error);
  Weights same = weights(0, 0);
  try {
    read_snapshot(folder.path(), 11, same);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::model);
    EXPECT_TRUE(std::string_view(error.what())
                    .ends_with(": expected the weights of update 11, found nothing"))
        << error.what();
  }
}

}  // namespace
}  // namespace heed::train
