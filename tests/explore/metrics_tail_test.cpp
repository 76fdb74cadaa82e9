#include "heed/explore/metrics_tail.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "heed/io/files.h"
#include "support/temporary_folder.h"

namespace heed::explore {
namespace {

using Lines = std::vector<std::string>;

class Log {
 public:
  std::string path() const { return folder_.file("metrics.jsonl"); }
  void append(const std::string& text) const { std::ofstream(path(), std::ios::app) << text; }
  // As a run does that resumes from a checkpoint.
  void replace(const std::string& text) const { io::write_file_atomically(path(), text); }

 private:
  TemporaryFolder folder_;
};

TEST(MetricsTail, GivesEveryLineOnceWhenItIsWhole) {
  const Log log;
  MetricsTail tail(log.path());
  EXPECT_EQ(tail.read().lines, Lines{});  // there is no file yet
  log.append("one\ntw");
  EXPECT_EQ(tail.read().lines, Lines{"one"});
  EXPECT_EQ(tail.read().lines, Lines{});
  log.append("o\nthree\n\n");
  const MetricsTail::News news = tail.read();
  EXPECT_EQ(news.lines, (Lines{"two", "three", ""}));
  EXPECT_FALSE(news.is_rewritten);
}

TEST(MetricsTail, BeginsAnewWhenTheFileIsReplacedByAShorterOne) {
  const Log log;
  MetricsTail tail(log.path());
  log.append("one\ntwo\nthree\n");
  tail.read();
  log.replace("one\n");
  const MetricsTail::News news = tail.read();
  EXPECT_TRUE(news.is_rewritten);
  EXPECT_EQ(news.lines, Lines{"one"});
  log.append("other\n");
  EXPECT_FALSE(tail.read().is_rewritten);
}

TEST(MetricsTail, BeginsAnewWhenTheFileHasGrownAgainMeanwhile) {
  const Log log;
  MetricsTail tail(log.path());
  log.append("one\ntwo\n");
  tail.read();
  log.replace("one\n");
  log.append("another two\nthree\n");
  const MetricsTail::News news = tail.read();
  EXPECT_TRUE(news.is_rewritten);
  EXPECT_EQ(news.lines, (Lines{"one", "another two", "three"}));
}

TEST(MetricsTail, BeginsAnewWhenTheFileIsCutOrTakenAway) {
  const Log log;
  MetricsTail tail(log.path());
  log.append("one\ntwo\n");
  tail.read();
  std::filesystem::resize_file(log.path(), 4);
  MetricsTail::News news = tail.read();
  EXPECT_TRUE(news.is_rewritten);
  EXPECT_EQ(news.lines, Lines{"one"});

  std::filesystem::remove(log.path());
  news = tail.read();
  EXPECT_TRUE(news.is_rewritten);
  EXPECT_EQ(news.lines, Lines{});
  EXPECT_FALSE(tail.read().is_rewritten);
}

TEST(MetricsTail, HasNoLinesOfWhatIsNoRegularFile) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), 0600), 0);
  MetricsTail pipe(folder.file("pipe"));  // which nobody writes to: reading it would wait for ever
  EXPECT_EQ(pipe.read().lines, Lines{});
  EXPECT_FALSE(pipe.read().is_rewritten);
  EXPECT_EQ(MetricsTail(folder.path()).read().lines, Lines{});
  EXPECT_EQ(MetricsTail("/dev/zero").read().lines, Lines{});
}

}  // namespace
}  // namespace heed::explore
