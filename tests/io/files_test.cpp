#include "heed/io/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <thread>

#include "heed/base/cancellation.h"
#include "io/expect_error.h"
#include "support/failing_calls.h"
#include "support/small_disk.h"
#include "support/temporary_folder.h"

namespace {

std::vector<std::string>* synced_paths = nullptr;

}  // namespace

// In place of the C library's, for everything in this program.
extern "C" int fsync(int descriptor) {
  if (synced_paths) {
    const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
    synced_paths->push_back(std::filesystem::read_symlink(link).string());
  }
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

namespace heed::io {
namespace {

namespace fs = std::filesystem;

TEST(Files, ReadsWhatWasWritten) {
  const TemporaryFolder folder;
  std::string bytes(200'000, 'x');
  bytes[3] = '\0';
  for (const std::string& text : {std::string(), std::string("short"), bytes}) {
    write_file_atomically(folder.file("a"), text);
    EXPECT_EQ(read_file(folder.file("a")), text);
  }
  EXPECT_EQ(folder.num_files(), 1u);
}

TEST(Files, AMissingFileIsAnErrorOfTheKindAskedFor) {
  const std::string message = "/no/such/file: cannot be read: No such file or directory";
  expect_error(ErrorKind::data, message, [] { read_file("/no/such/file"); });
  expect_error(ErrorKind::model, message, [] { read_file("/no/such/file", ErrorKind::model); });
}

TEST(Files, AFolderCannotBeRead) {
  const TemporaryFolder folder;
  expect_error(ErrorKind::data, folder.path() + ": expected a file, found a folder",
               [&] { read_file(folder.path()); });
}

TEST(Files, AReadThatFailsHalfwayIsAnError) {
  // Opens, but nothing is mapped at its beginning.
  expect_error(ErrorKind::data, "/proc/self/mem: cannot be read: Input/output error",
               [] { read_file("/proc/self/mem"); });
}

TEST(Files, ReadsFilesThatDoNotKnowTheirSize) {
  EXPECT_NE(read_file("/proc/self/status").find("Name:"), std::string::npos);
}

TEST(Files, AWriterWritesInPiecesOfAnySize) {
  const TemporaryFolder folder;
  std::string expected;
  AtomicFile file(folder.file("a"));
  for (const std::size_t size : {1ul, 65'535ul, 65'536ul, 0ul, 65'537ul, 70ul, 200'000ul, 5ul}) {
    const std::string piece(size, static_cast<char>('a' + expected.size() % 26));
    file.write(piece);
    expected += piece;
  }
  file.commit();
  EXPECT_EQ(read_file(folder.file("a")), expected);
}

TEST(Files, NothingChangesBeforeTheCommit) {
  const TemporaryFolder folder;
  write_file_atomically(folder.file("a"), "old");
  {
    AtomicFile file(folder.file("a"));
    file.write("new");
    EXPECT_EQ(read_file(folder.file("a")), "old");
  }
  EXPECT_EQ(read_file(folder.file("a")), "old");
  EXPECT_EQ(folder.num_files(), 1u);
}

TEST(Files, AFullDiskKeepsTheOldFileAndLeavesNothingBeside) {
  const TemporaryFolder folder;
  write_file_atomically(folder.file("a"), "old");
  // The small one fails in commit, when the buffer is flushed; the large one in write.
  for (const std::size_t size : {5000ul, 500'000ul}) {
    const SmallDisk disk(4096);
    expect_error(ErrorKind::failed, folder.file("a") + ": cannot be written: File too large",
                 [&] { write_file_atomically(folder.file("a"), std::string(size, 'x')); });
    EXPECT_EQ(read_file(folder.file("a")), "old");
    EXPECT_EQ(folder.num_files(), 1u);
  }
}

TEST(Files, AFolderThatIsMissingIsNamed) {
  expect_error(ErrorKind::failed, "/no/such/a: cannot be written: No such file or directory",
               [] { write_file_atomically("/no/such/a", "x"); });
}

TEST(Files, OnlyRegularFilesAreReplaced) {
  const TemporaryFolder folder;
  create_folder(folder.file("b/c"));
  expect_error(ErrorKind::failed,
               folder.file("b") + ": cannot be replaced: expected a regular file",
               [&] { write_file_atomically(folder.file("b"), "x"); });
  EXPECT_EQ(folder.num_files(), 1u);
}

TEST(Files, ANewFileHasOrdinaryPermissions) {
  const TemporaryFolder folder;
  const mode_t mask = ::umask(022);
  write_file_atomically(folder.file("a"), "x");
  ::umask(mask);
  struct stat status {};
  ASSERT_EQ(::stat(folder.file("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644u);
}

mode_t mode_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 07777;
}

TEST(Files, AReplacedFileKeepsItsPermissions) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a", "old");
  for (const mode_t mode : {0600u, 0640u, 0755u}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    write_file_atomically(path, "new");
    EXPECT_EQ(mode_of(path), mode);
  }
}

TEST(Files, AFileThatRootReplacesKeepsItsOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may give files away";
  const TemporaryFolder folder;
  const std::string path = folder.write("a", "old");
  ASSERT_EQ(::chown(path.c_str(), 12345, 23456), 0);
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  write_file_atomically(path, "new");
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, 12345u);
  EXPECT_EQ(status.st_gid, 23456u);
  EXPECT_EQ(mode_of(path), 0640u);
}

TEST(Files, ASymbolicLinkStaysAndItsTargetIsReplaced) {
  const TemporaryFolder folder;
  create_folder(folder.file("store"));
  folder.write("store/a", "old");
  fs::create_symlink("store/a", folder.file("link"));
  fs::create_symlink(folder.file("link"), folder.file("chain"));
  for (const std::string name : {"link", "chain"}) {
    write_file_atomically(folder.file(name), "through " + name);
    EXPECT_EQ(read_file(folder.file("store/a")), "through " + name);
    EXPECT_TRUE(fs::is_symlink(folder.file(name)));
  }
  fs::create_symlink("store/b", folder.file("dangling"));
  write_file_atomically(folder.file("dangling"), "made");
  EXPECT_EQ(read_file(folder.file("store/b")), "made");
  EXPECT_TRUE(fs::is_symlink(folder.file("dangling")));
}

// Leaves the temporary file of a killed process that was writing `path`.
void kill_a_writer(const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    AtomicFile file(path);
    file.write(std::string(100'000, 'x'));
    ::raise(SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
}

TEST(Files, WhatAKilledWriterLeftIsRemovedAndALivingWriterIsNot) {
  const TemporaryFolder folder;
  write_file_atomically(folder.file("a"), "old");
  AtomicFile living(folder.file("a"));
  living.write("new");
  kill_a_writer(folder.file("a"));
  EXPECT_EQ(folder.num_files(), 3u);

  remove_abandoned_writes(folder.path());
  EXPECT_EQ(folder.num_files(), 2u);
  living.commit();
  EXPECT_EQ(read_file(folder.file("a")), "new");
  EXPECT_EQ(folder.num_files(), 1u);
}

TEST(Files, TheNextWriterRemovesWhatAKilledOneLeft) {
  const TemporaryFolder folder;
  kill_a_writer(folder.file("a"));
  kill_a_writer(folder.file("b"));
  write_file_atomically(folder.file("c"), "x");
  EXPECT_EQ(folder.num_files(), 1u);
}

TEST(Files, OnlyTemporaryFilesOfOursAreRemoved) {
  const TemporaryFolder folder;
  for (const char* name : {"a.heed-tmp", "a.12.heed-tmp", "a.12-.heed-tmp", "a.b-3.heed-tmp",
                           "12-3.heed-tmp", "a.12-3.heed-tmp.txt"}) {
    folder.write(name, "precious");
  }
  const std::size_t before = folder.num_files();
  folder.write("a.12-3.heed-tmp", "ours");
  remove_abandoned_writes(folder.path());
  EXPECT_EQ(folder.num_files(), before);
}

TEST(Files, APipeOfATemporaryNameIsNotWaitedForAndALinkIsNotFollowed) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo(folder.file("a.12-3.heed-tmp").c_str(), 0600), 0);
  fs::create_symlink(folder.write("precious", "text"), folder.file("a.12-4.heed-tmp"));
  remove_abandoned_writes(folder.path());
  EXPECT_TRUE(fs::is_symlink(folder.file("a.12-4.heed-tmp")));
  EXPECT_EQ(read_file(folder.file("precious")), "text");
}

// A file that was made but not yet locked looks abandoned.
TEST(Files, AWriterThatJustBeganLosesNothing) {
  const TemporaryFolder folder;
  std::atomic<bool> is_done = false;
  std::thread sweeper([&] {
    while (!is_done) remove_abandoned_writes(folder.path());
  });
  std::size_t num_lost = 0;
  for (int i = 0; i < 5000; ++i) {
    const AtomicFile file(folder.file("a"));
    num_lost += folder.num_files() == 0;
  }
  is_done = true;
  sweeper.join();
  EXPECT_EQ(num_lost, 0u);
}

TEST(Files, OnlyRegularFilesAreRead) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), 0666), 0);
  expect_error(ErrorKind::data, folder.file("pipe") + ": expected a file, found a pipe",
               [&] { read_file(folder.file("pipe")); });
  expect_error(ErrorKind::model, "/dev/zero: expected a file, found a device",
               [] { read_file("/dev/zero", ErrorKind::model); });
}

TEST(Files, ReadingCanBeCancelled) {
  const CancellationScope scope([] { return true; });
  EXPECT_THROW(read_file("/proc/self/status"), Cancelled);
}

TEST(Files, ANameThatIsTooLongIsNotAFile) {
  const TemporaryFolder folder;
  const std::string path = folder.file(std::string(300, 'n'));
  const std::string reason = "File name too long";
  expect_error(ErrorKind::model, path + ": expected a model folder, found none: " + reason,
               [&] { require_folder(path, "a model folder", ErrorKind::model); });
  expect_error(ErrorKind::failed, path + ": cannot make this folder: " + reason,
               [&] { create_folder(path); });
  expect_error(ErrorKind::failed, path + ": cannot be written: " + reason,
               [&] { write_file_atomically(path, ""); });
}

TEST(Files, MakingAFolderTellsWhichWereMissing) {
  const TemporaryFolder folder;
  using Paths = std::vector<std::string>;
  EXPECT_EQ(create_folder(folder.file("x")), Paths{folder.file("x")});
  EXPECT_EQ(create_folder(folder.file("x/y/z")), (Paths{folder.file("x/y"), folder.file("x/y/z")}));
  EXPECT_EQ(create_folder(folder.file("x/y/")), Paths{});
  EXPECT_EQ(create_folder(folder.file("w/")), Paths{folder.file("w")});
}

// A folder that cannot be synced may be gone after a power failure.
TEST(FilesDeathTest, EveryNewFolderIsSyncedOrNotThere) {
  const TemporaryFolder folder;
  EXPECT_EXIT(
      {
        if (!make_calls_fail(SYS_fsync, EIO)) ::_exit(77);
        try {
          create_folder(folder.file("x/y"));
        } catch (const Error& error) {
          std::cerr << error.what() << std::endl;
          ::_exit(3);
        }
        ::_exit(0);
      },
      testing::ExitedWithCode(3), "x: cannot be written: Input/output error");
  EXPECT_EQ(folder.num_files(), 0u);
}

// What `action` syncs, in order.
std::vector<std::string> paths_synced_by(const std::function<void()>& action) {
  std::vector<std::string> paths;
  synced_paths = &paths;
  action();
  synced_paths = nullptr;
  return paths;
}

TEST(Files, ANewFolderIsSyncedAndTheOneAroundItToo) {
  const TemporaryFolder folder;
  const std::string root = std::filesystem::canonical(folder.path()).string();
  EXPECT_EQ(paths_synced_by([&] { create_folder(root + "/x/y"); }),
            (std::vector<std::string>{root + "/x", root, root + "/x/y", root + "/x"}));
}

TEST(Files, AFileIsSyncedUnderItsTemporaryNameAndItsFolderUnderTheNewOne) {
  const TemporaryFolder folder;
  const std::string root = std::filesystem::canonical(folder.path()).string();
  const auto paths = paths_synced_by([&] { write_file_atomically(root + "/f", "text"); });
  ASSERT_EQ(paths.size(), 2u);
  EXPECT_TRUE(paths[0].starts_with(root + "/f.")) << paths[0];
  EXPECT_EQ(paths[1], root);
  EXPECT_EQ(paths_synced_by([&] { rename_file(root + "/f", root + "/g"); }),
            std::vector<std::string>{root});
}

TEST(Files, FoldersAreMadeAndRequired) {
  const TemporaryFolder folder;
  create_folder(folder.file("x/y"));
  create_folder(folder.file("x/y"));
  EXPECT_TRUE(is_folder(folder.file("x/y")));
  EXPECT_FALSE(is_file(folder.file("x/y")));
  require_folder(folder.file("x"), "a model folder", ErrorKind::model);

  write_file_atomically(folder.file("f"), "");
  EXPECT_TRUE(is_file(folder.file("f")));
  expect_error(ErrorKind::model, folder.file("f") + ": expected a model folder, found a file",
               [&] { require_folder(folder.file("f"), "a model folder", ErrorKind::model); });
  expect_error(ErrorKind::model, folder.file("n") + ": expected a model folder, found nothing",
               [&] { require_folder(folder.file("n"), "a model folder", ErrorKind::model); });
  EXPECT_THROW(create_folder(folder.file("f")), Error);
  EXPECT_THROW(create_folder(folder.file("f/g")), Error);
}

}  // namespace
}  // namespace heed::io
