#include "heed/io/gzip_file.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <array>
#include <filesystem>

#include "io/expect_error.h"
#include "support/temporary_folder.h"

namespace heed::io {
namespace {

std::string read_all(const std::string& path) {
  GzipFile file(path, "a file");
  std::array<char, 7> piece;
  std::string bytes;
  for (std::size_t count = piece.size(); count == piece.size();) {
    count = file.read(piece);
    bytes.append(piece.data(), count);
  }
  return bytes;
}

TEST(GzipFile, ReadsPlainAndCompressedFilesAlike) {
  const TemporaryFolder folder;
  const std::string content("ab\0cd, more than one piece of it", 32);
  gzFile file = gzopen(folder.file("a.gz").c_str(), "wb");
  gzwrite(file, content.data(), static_cast<unsigned>(content.size()));
  gzclose(file);
  EXPECT_EQ(read_all(folder.write("a", content)), content);
  EXPECT_EQ(read_all(folder.file("a.gz")), content);
  EXPECT_EQ(read_all(folder.write("empty", "")), "");
}

TEST(GzipFile, RefusesFoldersMissingFilesAndDamagedOnes) {
  const TemporaryFolder folder;
  expect_error(ErrorKind::data, folder.path() + ": expected a file, found a directory",
               [&] { read_all(folder.path()); });
  expect_error(ErrorKind::data, folder.file("absent") + ": cannot open: No such file or directory",
               [&] { read_all(folder.file("absent")); });
  gzFile file = gzopen(folder.file("cut.gz").c_str(), "wb");
  gzputs(file, "some text that is compressed");
  gzclose(file);
  std::filesystem::resize_file(folder.file("cut.gz"), 20);
  expect_error(ErrorKind::data,
               folder.file("cut.gz") + ": cannot read: the compressed data is damaged or cut short",
               [&] { read_all(folder.file("cut.gz")); });
}

}  // namespace
}  // namespace heed::io
