#include "heed/cli/line_chunks.h"

#include <gtest/gtest.h>

#include <sstream>
#include <streambuf>

#include "support/expect_error.h"

namespace heed::cli {
namespace {

using Lines = std::vector<std::string>;

TEST(LineChunks, GiveOutTheLinesThatHaveArrived) {
  std::istringstream in("a\nb\nc\n");
  LineChunks chunks(in, "here");
  EXPECT_EQ(chunks.next(2), (Lines{"a", "b"}));
  EXPECT_EQ(chunks.num_lines(), 2);
  EXPECT_EQ(chunks.next(2), (Lines{"c"}));
  EXPECT_TRUE(chunks.next(2).empty());
}

TEST(LineChunks, CountLinesAsEveryoneDoes) {
  const auto lines_of = [](const std::string& text) {
    std::istringstream in(text);
    return LineChunks(in, "here").next(9);
  };
  EXPECT_EQ(lines_of(""), Lines{});
  EXPECT_EQ(lines_of("a"), (Lines{"a"}));
  EXPECT_EQ(lines_of("\n\na"), (Lines{"", "", "a"}));
  EXPECT_EQ(lines_of("\xef\xbb\xbfone\r\ntwo\r\n"), (Lines{"one", "two"}));
  EXPECT_EQ(lines_of("\xef\xbb\xbf"), Lines{});
}

TEST(LineChunks, ReadJsonStringsWithLineEndsInThem) {
  std::istringstream in("\"two\\nlines\"\n\"\\u00e9 \\\"\\t\"\r\n\"\"\n");
  LineChunks chunks(in, "here", LineFormat::json);
  EXPECT_EQ(chunks.next(9), (Lines{"two\nlines", "\u00e9 \"\t", ""}));
}

TEST(LineChunks, RefuseWhatIsNoJsonStringAfterTheLinesBeforeIt) {
  std::istringstream in("\"a\"\n[\"b\"]\n");
  LineChunks chunks(in, "here", LineFormat::json);
  EXPECT_EQ(chunks.next(9), (Lines{"a"}));
  expect_error(ErrorKind::data, "here:2: expected a JSON string, found array",
               [&] { chunks.next(9); });
  std::istringstream plain("two words\n");
  expect_error(ErrorKind::data, "here:1: expected JSON, found a mistake at byte 2",
               [&] { LineChunks(plain, "here", LineFormat::json).next(9); });
}

TEST(LineChunks, RefuseALineThatIsTooLongByItsNumber) {
  const std::string longest(max_line_bytes, 'x');
  std::istringstream in(longest + "\n" + longest + "x\n");
  LineChunks chunks(in, "here");
  EXPECT_EQ(chunks.next(9), (Lines{longest}));
  expect_error(ErrorKind::data,
               "here:2: expected a line of at most 1048576 bytes, found a longer one",
               [&] { chunks.next(9); });
}

// Gives out the same bytes for ever, and counts them.
class Endless : public std::streambuf {
 public:
  std::size_t num_bytes() const { return num_bytes_; }

 protected:
  int_type underflow() override {
    num_bytes_ += sizeof(bytes_);
    setg(bytes_, bytes_, bytes_ + sizeof(bytes_));
    return traits_type::to_int_type(bytes_[0]);
  }

 private:
  char bytes_[4096] = {};
  std::size_t num_bytes_ = 0;
};

TEST(LineChunks, StopReadingALineThatNeverEnds) {
  Endless zeros;
  std::istream in(&zeros);
  EXPECT_THROW(LineChunks(in, "here").next(9), Error);
  EXPECT_LE(zeros.num_bytes(), 2 * max_line_bytes);
}

TEST(LineChunks, HoldFewMegabytesOfLongLines) {
  std::string text;
  for (int line = 0; line < 20; ++line) text += std::string(max_line_bytes, 'x') + '\n';
  std::istringstream in(text);
  LineChunks chunks(in, "here");
  std::size_t num_lines = 0;
  for (Lines lines = chunks.next(2000); !lines.empty(); lines = chunks.next(2000)) {
    EXPECT_LE(lines.size(), 5u);
    num_lines += lines.size();
  }
  EXPECT_EQ(num_lines, 20u);
}

class Unreadable : public std::streambuf {
 protected:
  int_type underflow() override { throw std::ios_base::failure("Input/output error"); }
};

TEST(LineChunks, RefuseAStreamThatCannotBeRead) {
  Unreadable broken;
  std::istream in(&broken);
  expect_error(ErrorKind::data, "here: cannot be read", [&] { LineChunks(in, "here").next(9); });
}

}  // namespace
}  // namespace heed::cli
