#include "heed/train/checkpoint.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "heed/io/files.h"
#include "heed/io/safetensors.h"
#include "heed/train/training_folder.h"
#include "heed/train/weights.h"
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

// It had no rollbacks, recorded no environment, and wrote the roles of files with underscores.
TEST(Checkpoint, OfTheFirstVersionIsRead) {
  const TemporaryFolder folder;
  const std::string path = folder.file("checkpoint");
  Tensor weight = Tensor::full({1}, 1);
  weight.require_gradient();
  Optimizer optimizer({{"weight", weight}}, {});
  const RunDescription run{{}, recipe_preset("demo"), {{{"valid-source", "a.txt"}}, "hash"}};
  save_checkpoint(path, run, optimizer, nullptr);

  io::Metadata metadata = io::SafetensorsFile::load(path).metadata();
  auto state = nlohmann::json::parse(metadata["state"]);
  for (const char* name : {"rate_scale", "rollbacks", "diverged_update"}) state.erase(name);
  metadata["state"] = state.dump();
  metadata["texts"] = R"({"valid_source":"a.txt","sha256":"hash"})";
  metadata.erase("environment");
  WeightsWriter().write(path, metadata);

  const Checkpoint checkpoint = Checkpoint::load(path);
  EXPECT_EQ(checkpoint.run().state.rate_scale, 1);
  EXPECT_EQ(checkpoint.run().state.rollbacks, 0);
  EXPECT_EQ(checkpoint.run().files.paths, run.files.paths);
  EXPECT_FALSE(checkpoint.environment());
}

}  // namespace
}  // namespace heed::train
