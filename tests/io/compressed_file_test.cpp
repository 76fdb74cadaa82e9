#include "heed/io/compressed_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>

#include "heed/base/cancellation.h"
#include "heed/io/descriptor.h"
#include "support/expect_error.h"
#include "support/gzip.h"
#include "support/temporary_folder.h"
#include "support/zstd.h"

namespace heed::io {
namespace {

std::string read_all(const std::string& path) {
  CompressedFile file(path, "a file");
  std::array<char, 7> piece;
  std::string bytes;
  for (std::size_t count = piece.size(); count == piece.size();) {
    count = file.read(piece);
    bytes.append(piece.data(), count);
  }
  return bytes;
}

TEST(CompressedFile, ReadsPlainAndCompressedFilesAlike) {
  const TemporaryFolder folder;
  const std::string content("ab\0cd, more than one piece of it", 32);
  EXPECT_EQ(read_all(folder.write("a", content)), content);
  EXPECT_EQ(read_all(folder.write("a.gz", gzip(content))), content);
  for (const char* few : {"", "\x1f", "a"}) {
    EXPECT_EQ(read_all(folder.write("few", few)), few);
    EXPECT_EQ(read_all(folder.write("few.gz", gzip(few))), few);
  }
  std::string large;  // more than a buffer, before and after compression
  for (unsigned i = 0, x = 1; i < 50000; ++i) large += std::to_string(x = x * 1664525u + 1);
  EXPECT_EQ(read_all(folder.write("large", large)), large);
  EXPECT_EQ(read_all(folder.write("large.gz", gzip(large))), large);
}

TEST(CompressedFile, ReadsZstdAsItReadsGzip) {
  const TemporaryFolder folder;
  std::string large;
  for (unsigned i = 0, x = 1; i < 50000; ++i) large += std::to_string(x = x * 1664525u + 1);
  for (const std::string& content : {std::string("ab\0cd", 5), std::string(), large}) {
    EXPECT_EQ(read_all(folder.write("a.zst", zstd(content))), content);
  }
  const std::string skippable("\x5a\x2a\x4d\x18\x03\0\0\0abc", 11);
  EXPECT_EQ(read_all(folder.write("b.zst", skippable + zstd("one ") + zstd("") + zstd("two"))),
            "one two");
}

TEST(CompressedFile, RefusesDamagedZstd) {
  const TemporaryFolder folder;
  const std::string whole = zstd("some text that is compressed");
  const std::string damaged = ": cannot read: the compressed data is damaged or cut short";
  for (std::size_t size = 4; size < whole.size(); ++size) {
    const std::string path = folder.write("cut.zst", whole.substr(0, size));
    expect_error(ErrorKind::data, path + damaged, [&] { read_all(path); });
  }
  const std::string after = folder.write("after.zst", whole + "more");
  expect_error(ErrorKind::data,
               after + ": expected nothing after the compressed data, found other bytes",
               [&] { read_all(after); });
  // A window of 2 GiB, which nobody needs.
  const std::string window =
      folder.write("window.zst", std::string("\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00", 9));
  expect_error(ErrorKind::data, window + damaged, [&] { read_all(window); });
}

TEST(CompressedFile, ReadsOneCompressedTextAfterAnother) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_all(folder.write("a.gz", gzip("one ") + gzip("") + gzip("two"))), "one two");
}

TEST(CompressedFile, RefusesBytesAfterTheCompressedData) {
  const TemporaryFolder folder;
  for (const char* rest : {"a line that was appended\n", "\x1f", "\n"}) {
    const std::string path = folder.write("a.gz", gzip("compressed\n"));
    std::ofstream(path, std::ios::app) << rest;
    expect_error(ErrorKind::data,
                 path + ": expected nothing after the compressed data, found other bytes",
                 [&] { read_all(path); });
  }
}

TEST(CompressedFile, RefusesFoldersMissingFilesAndDamagedOnes) {
  const TemporaryFolder folder;
  expect_error(ErrorKind::data, folder.path() + ": expected a file, found a directory",
               [&] { read_all(folder.path()); });
  expect_error(ErrorKind::data, folder.file("absent") + ": cannot open: No such file or directory",
               [&] { read_all(folder.file("absent")); });
  folder.write("cut.gz", gzip("some text that is compressed"));
  std::filesystem::resize_file(folder.file("cut.gz"), 20);
  expect_error(ErrorKind::data,
               folder.file("cut.gz") + ": cannot read: the compressed data is damaged or cut short",
               [&] { read_all(folder.file("cut.gz")); });
}

// Its writer is there, and writes nothing.
TEST(CompressedFile, WaitingForAPipeCanBeCancelled) {
  const TemporaryFolder folder;
  const std::string path = folder.file("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const Descriptor writer(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  int polls = 0;
  const CancellationScope scope([&] { return ++polls > 2; });
  EXPECT_THROW(read_all(path), Cancelled);
}

}  // namespace
}  // namespace heed::io
