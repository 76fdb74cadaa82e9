#include "heed/text/lines.h"

#include <gtest/gtest.h>

#include <sstream>

#include "heed/base/error.h"
#include "support/gzip.h"
#include "support/temporary_folder.h"

namespace heed::text {
namespace {

using Lines = std::vector<std::string>;

class LinesTest : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& content) const {
    return folder_.write(name, content);
  }

  std::filesystem::path write_gzip(const std::string& name, const std::string& content) const {
    return folder_.write(name, gzip(content));
  }

  TemporaryFolder folder_;
};

// The message of the data error that `work` throws.
template <typename Work>
std::string data_error(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data);
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

TEST_F(LinesTest, EndAtNewlinesAndAtNothingElse) {
  const auto path = write("a", "one\x0btwo\nthree\xe2\x80\xa8 four\xc2\x85\n\r\nfive\rsix\r\r\n");
  EXPECT_EQ(read_lines(path),
            (Lines{"one\x0btwo", "three\xe2\x80\xa8 four\xc2\x85", "", "five\rsix\r"}));
}

TEST_F(LinesTest, CountTheLastOneWithAndWithoutANewline) {
  EXPECT_EQ(read_lines(write("a", "one\ntwo")), (Lines{"one", "two"}));
  EXPECT_EQ(read_lines(write("b", "one\ntwo\n")), (Lines{"one", "two"}));
  EXPECT_EQ(read_lines(write("c", "one\n\n")), (Lines{"one", ""}));
  EXPECT_EQ(read_lines(write("d", "")), Lines{});
}

TEST_F(LinesTest, LoseAByteOrderMarkAtTheStartOnly) {
  EXPECT_EQ(read_lines(write("a", "\xef\xbb\xbfone\n\xef\xbb\xbftwo\n")),
            (Lines{"one", "\xef\xbb\xbftwo"}));
  EXPECT_EQ(read_lines(write("b", "\xef\xbb\xbf")), Lines{});
}

TEST_F(LinesTest, AreTheSameFromACompressedFileAStreamAndAPlainFile) {
  std::string content;
  for (int i = 0; i < 30000; ++i) content += "line " + std::to_string(i) + " \xc3\xa4\n";
  content += std::string(200000, 'x');
  const Lines expected = read_lines(write("plain", content));
  ASSERT_EQ(expected.size(), 30001u);
  EXPECT_EQ(expected[29999], "line 29999 \xc3\xa4");
  EXPECT_EQ(expected[30000].size(), 200000u);

  EXPECT_EQ(read_lines(write_gzip("text.gz", content)), expected);
  std::istringstream stream(content);
  EXPECT_EQ(read_lines(stream, "stream"), expected);
}

TEST_F(LinesTest, RefuseAMissingFileADirectoryAndADamagedOne) {
  const std::filesystem::path missing = folder_.file("nowhere.de");
  EXPECT_EQ(data_error([&] { read_lines(missing); }),
            missing.string() + ": cannot open: No such file or directory");
  EXPECT_EQ(data_error([&] { read_lines(folder_.path()); }),
            folder_.path() + ": expected a text file, found a directory");

  std::string noise;  // so that the compressed file is long enough to be cut
  for (unsigned i = 0, x = 1; i < 10000; ++i) noise += std::to_string(x = x * 1664525u + 1) + "\n";
  const auto damaged = write_gzip("cut.gz", noise);
  std::filesystem::resize_file(damaged, std::filesystem::file_size(damaged) / 2);
  EXPECT_EQ(data_error([&] { read_lines(damaged); }),
            damaged.string() + ": cannot read: the compressed data is damaged or cut short");
}

TEST_F(LinesTest, RefuseBytesThatAreNotUtf8WithLineAndByte) {
  const auto path = write("train.de",
                          "gut\nauch gut\nein\xff"
                          "er\n");
  EXPECT_EQ(data_error([&] { read_lines(path); }),
            path.string() + ":3: not valid UTF-8 at byte 4 (found 0xff)");
  std::istringstream stream(
      "Sch\xe4"
      "fer\n");
  EXPECT_EQ(data_error([&] { read_lines(stream, "standard input"); }),
            "standard input:1: not valid UTF-8 at byte 4 (found 0xe4)");
}

TEST_F(LinesTest, RefuseALineThatIsTooLongByItsNumber) {
  const std::string longest(50, 'x');
  const auto path = write("long.txt", "short\n" + longest + "\n");
  EXPECT_EQ(read_lines(path, 50), (Lines{"short", longest}));
  EXPECT_EQ(data_error([&] { read_lines(path, 49); }),
            path.string() + ":2: expected a line of at most 49 bytes, found a longer one");
  EXPECT_EQ(data_error([&] { read_lines("/dev/zero"); }),
            "/dev/zero:1: expected a line of at most 16777216 bytes, found a longer one");
  std::istringstream stream("short\nshort\n" + std::string(max_line_bytes + 1, 'x'));
  EXPECT_EQ(data_error([&] { read_lines(stream, "standard input"); }),
            "standard input:3: expected a line of at most 1048576 bytes, found a longer one");
}

TEST_F(LinesTest, ComeInPairsFromTwoFiles) {
  const ParallelLines lines =
      read_parallel_lines(write("a.en", "one\ntwo\n"), write_gzip("a.de.gz", "eins\nzwei\n"));
  EXPECT_EQ(lines.source, (Lines{"one", "two"}));
  EXPECT_EQ(lines.target, (Lines{"eins", "zwei"}));
}

TEST_F(LinesTest, RefusePairsOfDifferentCountsAndOfNone) {
  const auto source = write("a.en", "one\ntwo\n");
  const auto target = write("a.de", "eins\n");
  EXPECT_EQ(data_error([&] { read_parallel_lines(source, target); }),
            source.string() + " has 2 lines but " + target.string() +
                " has 1 line; expected one line for each line");
  const auto empty = write("empty", "");
  EXPECT_EQ(data_error([&] { read_parallel_lines(empty, empty); }),
            empty.string() + " and " + empty.string() + ": expected lines of text, found none");
}

}  // namespace
}  // namespace heed::text
