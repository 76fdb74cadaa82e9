#include "heed/io/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "io/expect_error.h"
#include "support/temporary_folder.h"

namespace heed::io {
namespace {

// While it lives, no file can grow beyond so many bytes: what a full disk looks like to a writer.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    handler_ = ::signal(SIGXFSZ, SIG_IGN);
  }
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  sighandler_t handler_;
};

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

TEST(Files, WhatAKilledWriterLeftIsRemovedAndALivingWriterIsNot) {
  const TemporaryFolder folder;
  write_file_atomically(folder.file("a"), "old");
  const pid_t child = ::fork();
  if (child == 0) {
    AtomicFile file(folder.file("a"));
    file.write(std::string(100'000, 'x'));
    ::raise(SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(folder.num_files(), 2u);
  AtomicFile living(folder.file("a"));
  living.write("new");
  EXPECT_EQ(folder.num_files(), 3u);

  remove_abandoned_writes(folder.path());
  EXPECT_EQ(folder.num_files(), 2u);
  living.commit();
  EXPECT_EQ(read_file(folder.file("a")), "new");
  EXPECT_EQ(folder.num_files(), 1u);
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
