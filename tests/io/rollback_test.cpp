#include "heed/io/rollback.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "heed/io/files.h"
#include "support/temporary_folder.h"

namespace heed::io {
namespace {

namespace fs = std::filesystem;

TEST(Rollback, RemovesWhatWasMade) {
  const TemporaryFolder folder;
  {
    Rollback made;
    made.create_folder(folder.file("a/b"));
    made.create_folder(folder.file("a/b/c"));
    made.add_file(folder.file("a/b/file"));
    folder.write("a/b/file", "x");
  }
  EXPECT_EQ(folder.num_files(), 0u);
}

TEST(Rollback, KeepsWhatItIsToldToKeep) {
  const TemporaryFolder folder;
  {
    Rollback made;
    made.create_folder(folder.file("a"));
    made.add_file(folder.write("a/file", "x"));
    made.keep();
  }
  EXPECT_TRUE(is_file(folder.file("a/file")));
}

TEST(Rollback, WhatWasThereBeforeStays) {
  const TemporaryFolder folder;
  create_folder(folder.file("a"));
  folder.write("a/file", "old");
  {
    Rollback made;
    made.create_folder(folder.file("a"));
    made.add_file(folder.file("a/file"));
    folder.write("a/file", "new");
  }
  EXPECT_TRUE(is_file(folder.file("a/file")));
}

TEST(Rollback, AFolderWithSomethingElseInItStays) {
  const TemporaryFolder folder;
  {
    Rollback made;
    made.create_folder(folder.file("a/b"));
    made.add_file(folder.file("a/file"));
    folder.write("a/file", "ours");
    folder.write("a/thesis", "precious");
  }
  EXPECT_EQ(read_file(folder.file("a/thesis")), "precious");
  EXPECT_FALSE(is_file(folder.file("a/file")));
  EXPECT_FALSE(is_folder(folder.file("a/b")));
}

TEST(Rollback, AFolderThatWasMovedAwayAndWhatStandsInItsPlaceStay) {
  const TemporaryFolder folder;
  {
    Rollback made;
    made.create_folder(folder.file("a"));
    made.add_file(folder.file("a/file"));
    folder.write("a/file", "ours");
    fs::rename(folder.file("a"), folder.file("moved"));
    create_folder(folder.file("a"));
    folder.write("a/file", "precious");
  }
  EXPECT_EQ(read_file(folder.file("a/file")), "precious");
  EXPECT_EQ(read_file(folder.file("moved/file")), "ours");
}

TEST(Rollback, AnEmptyFolderInTheSamePlaceStays) {
  const TemporaryFolder folder;
  {
    Rollback made;
    made.create_folder(folder.file("a"));
    fs::remove(folder.file("a"));
    fs::create_directory(folder.file("a"));
  }
  EXPECT_TRUE(is_folder(folder.file("a")));
}

}  // namespace
}  // namespace heed::io
