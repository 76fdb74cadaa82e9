#include "heed/train/checkpoint.h"

#include <gtest/gtest.h>

#include "heed/io/files.h"
#include "heed/train/training_folder.h"
#include "support/temporary_folder.h"

namespace heed::train {
namespace {

struct PromoteNextCheckpoint : testing::Test {
  PromoteNextCheckpoint() {
    io::create_folder(folder.training());
    io::write_file_atomically(folder.previous_checkpoint(), "1");
    io::write_file_atomically(folder.checkpoint(), "2");
    io::write_file_atomically(folder.next_checkpoint(), "3");
  }
  void expect_promoted() const {
    EXPECT_EQ(io::read_file(folder.checkpoint()), "3");
    EXPECT_EQ(io::read_file(folder.previous_checkpoint()), "2");
    EXPECT_FALSE(io::is_file(folder.next_checkpoint()));
  }

  TemporaryFolder temporary;
  TrainingFolder folder{temporary.file("model")};
};

TEST_F(PromoteNextCheckpoint, KeepsTheNewestAsThePreviousOne) {
  promote_next_checkpoint(folder);
  expect_promoted();
}

// As when its last step, syncing the folder, has failed.
TEST_F(PromoteNextCheckpoint, CanBeCalledAgainWhenAllIsDone) {
  promote_next_checkpoint(folder);
  promote_next_checkpoint(folder);
  expect_promoted();
}

TEST_F(PromoteNextCheckpoint, CanBeCalledAgainBetweenItsSteps) {
  io::rename_file(folder.checkpoint(), folder.previous_checkpoint());
  promote_next_checkpoint(folder);
  expect_promoted();
}

}  // namespace
}  // namespace heed::train
