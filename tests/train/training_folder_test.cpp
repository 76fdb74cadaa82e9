#include "heed/train/training_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>

#include "heed/io/files.h"
#include "support/expect_error.h"
#include "support/failing_calls.h"
#include "train/toy_training.h"

namespace heed::train {
namespace {

namespace fs = std::filesystem;

void expect_unusable(const std::string& path, const std::string& message) {
  expect_error(ErrorKind::usage, message,
               [&] { TrainingFolder(path).check_usable(RunMode::start_or_resume); });
}

TEST(TrainingFolder, SaysWhyAPathCannotBeUsed) {
  const TemporaryFolder folder;
  expect_unusable("", "`model`: expected a folder for the model, found an empty name");
  const std::string file = folder.write("file", "precious");
  expect_unusable(file, file + ": expected a folder for the model, found a file");
  const std::string long_name = folder.file(std::string(300, 'n'));
  expect_unusable(long_name,
                  long_name + ": expected a folder for the model, found none: File name too long");
  expect_unusable(
      folder.path(),
      folder.path() + ": expected a new folder or one of a training run, found other contents");
}

TEST(TrainingLock, OnlyOneRunHasIt) {
  const TemporaryFolder folder;
  const TrainingFolder training(folder.file("model"));
  EXPECT_FALSE(is_training_in(training));
  const TrainingLock lock(training);
  EXPECT_TRUE(is_training_in(training));
  EXPECT_EQ(lock.missing(), "");
  expect_error(ErrorKind::failed, training.model() + ": another process is training in this folder",
               [&] { const TrainingLock second(training); });
  EXPECT_TRUE(is_training_in(training));
  EXPECT_TRUE(io::is_folder(training.snapshots())) << "the second one removed nothing";
}

TEST(TrainingLock, ItsFoldersGoWithItUnlessTheyAreKept) {
  const TemporaryFolder folder;
  const TrainingFolder training(folder.file("new/model"));
  { const TrainingLock lock(training); }
  EXPECT_EQ(folder.num_files(), 0u);
  {
    TrainingLock lock(training);
    lock.made().keep();
  }
  EXPECT_TRUE(io::is_folder(training.snapshots()));
  EXPECT_FALSE(is_training_in(training));
}

TEST(TrainingLock, APipeInThePlaceOfTheFolderIsNotWaitedFor) {
  const TemporaryFolder folder;
  const TrainingFolder training(folder.path());
  ASSERT_EQ(::mkfifo(training.training().c_str(), 0600), 0);
  EXPECT_FALSE(is_training_in(training));
  EXPECT_THROW(TrainingLock{training}, Error);
}

struct Warnings : TrainingObserver {
  std::string text;
  void on_warning(const std::string& message) override { text += message; }
};

TEST(TrainingLockDeathTest, WithoutLocksARunWarnsAndGoesOn) {
  const ToyTraining toy;
  const Training training = toy.training("model");
  EXPECT_EXIT(
      {
        if (!make_calls_fail(SYS_flock, ENOLCK)) ::_exit(77);
        Warnings warnings;
        const bool is_finished = train_model(training, warnings).end == RunEnd::finished;
        std::cerr << warnings.text << std::endl;
        ::_exit(is_finished ? 3 : 1);
      },
      testing::ExitedWithCode(3),
      "model: cannot be locked: No locks available; start no second run in this folder");
}

TEST(TrainingLockDeathTest, AFolderThatCannotBeOpenedIsNamed) {
  const TemporaryFolder folder;
  const TrainingFolder training(folder.file("model"));
  EXPECT_EXIT(
      {
        if (!make_calls_fail(SYS_openat, EACCES)) ::_exit(77);
        try {
          const TrainingLock lock(training);
        } catch (const Error& error) {
          std::cerr << error.what() << std::endl;
          ::_exit(3);
        }
        ::_exit(1);
      },
      testing::ExitedWithCode(3), "cannot be opened: Permission denied");
}

}  // namespace
}  // namespace heed::train
