#include "heed/io/file_reader.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace heed::io {
namespace {

TEST(FileReader, ReadsPartsAndThenTheRest) {
  const TemporaryFolder folder;
  FileReader file(folder.write("a", "abcdefg"), ErrorKind::model);
  EXPECT_EQ(file.size(), 7u);
  EXPECT_EQ(file.read(2), "ab");
  EXPECT_EQ(file.read(0), "");
  EXPECT_EQ(file.read(3), "cde");
  EXPECT_EQ(file.read_rest(), "fg");
  expect_error(ErrorKind::model, folder.file("a") + ": expected 1 more bytes, found 0",
               [&] { file.read(1); });
}

TEST(FileReader, RefusesAFileBeyondTheBoundBeforeItReads) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a", "abc");
  EXPECT_EQ(FileReader(path, ErrorKind::data).read_rest(3), "abc");
  expect_error(ErrorKind::data, path + ": expected a file of at most 2 bytes, found 3",
               [&] { FileReader(path, ErrorKind::data).read_rest(2); });
  std::filesystem::resize_file(path, std::uintmax_t{1} << 40);  // without taking that much disk
  expect_error(ErrorKind::data,
               path + ": expected a file of at most 1000 bytes, found 1099511627776",
               [&] { FileReader(path, ErrorKind::data).read_rest(1000); });
}

TEST(FileReader, RefusesWhatIsNoRegularFileAtOnce) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& path, const std::string& reason) {
    expect_error(ErrorKind::model, path + ": " + reason,
                 [&] { FileReader(path, ErrorKind::model); });
  };
  ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), 0600), 0);
  refused(folder.file("pipe"), "expected a file, found a pipe");
  refused("/dev/zero", "expected a file, found a device");
  refused(folder.path(), "expected a file, found a folder");
  refused(folder.file("none"), "cannot be read: No such file or directory");
  std::filesystem::create_symlink("loop", folder.file("loop"));
  refused(folder.file("loop"), "cannot be read: Too many levels of symbolic links");
}

}  // namespace
}  // namespace heed::io
