#include "heed/train/metrics_log.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/io/files.h"
#include "heed/text/lines.h"
#include "support/expect_error.h"
#include "support/failing_calls.h"
#include "support/full_disk.h"
#include "support/temporary_folder.h"

namespace heed::train {
namespace {

using nlohmann::json;

UpdateReport update(Index number) {
  UpdateReport report;
  report.update = number;
  report.loss = 2.5;
  return report;
}

ValidationReport validation(Index number) {
  ValidationReport report;
  report.update = number;
  report.scores = {{"bleu", 12.5}, {"exact_match", 25}};
  report.samples = {{"a", "b", "c"}};
  return report;
}

// "u1 u2 v2": the kinds and updates of all lines.
std::string summary(const std::string& path) {
  std::string text;
  for (const std::string& line : text::read_lines(path)) {
    const json entry = json::parse(line);
    text += entry["kind"].get<std::string>().substr(0, 1) + entry["update"].dump() + ' ';
  }
  return text;
}

void write_three_updates(const std::string& path) {
  MetricsLog log(path, 0, 0);
  log.add(update(1));
  log.add(update(2));
  log.add(validation(2));
  log.add(update(3));
}

TEST(MetricsLogDeathTest, ALogThatCannotBeSeenIsNotStartedAnew) {
  const TemporaryFolder folder;
  const std::string path = folder.file("metrics.jsonl");
  write_three_updates(path);
  EXPECT_EXIT(
      {
        if (!make_calls_fail(SYS_newfstatat, EIO)) ::_exit(77);
        try {
          const MetricsLog log(path, 3, 2);
        } catch (const Error& error) {
          std::cerr << error.what() << std::endl;
          ::_exit(3);
        }
        ::_exit(0);
      },
      testing::ExitedWithCode(3), "metrics.jsonl: cannot be read: Input/output error");
  EXPECT_EQ(summary(path), "u1 u2 v2 u3 ");
}

TEST(MetricsLog, HasOneObjectALine) {
  const TemporaryFolder folder;
  const std::string path = folder.file("metrics.jsonl");
  write_three_updates(path);
  EXPECT_EQ(summary(path), "u1 u2 v2 u3 ");
  const json line = json::parse(text::read_lines(path)[2]);
  EXPECT_EQ(line["bleu"], 12.5);
  EXPECT_EQ(line["exact_match"], 25);
  EXPECT_EQ(line["samples"][0]["output"], "b");
}

TEST(MetricsLog, LosesWhatCameAfterTheCheckpoint) {
  const TemporaryFolder folder;
  const std::string path = folder.file("metrics.jsonl");
  write_three_updates(path);
  { MetricsLog log(path, 2, 2); }
  EXPECT_EQ(summary(path), "u1 u2 v2 ");
  { MetricsLog log(path, 2, 1); }  // validated again
  EXPECT_EQ(summary(path), "u1 u2 ");
  MetricsLog log(path, 2, 1);
  log.add(validation(2));
  EXPECT_EQ(summary(path), "u1 u2 v2 ");
}

TEST(MetricsLog, LosesALineThatWasCutOff) {
  const TemporaryFolder folder;
  const std::string path = folder.file("metrics.jsonl");
  write_three_updates(path);
  std::ofstream(path, std::ios::app) << R"({"kind": "update", "upd)";
  { MetricsLog log(path, 10, 10); }
  EXPECT_EQ(summary(path), "u1 u2 v2 u3 ");
}

TEST(MetricsLog, WritesNullForWhatIsNotFinite) {
  const TemporaryFolder folder;
  const std::string path = folder.file("metrics.jsonl");
  MetricsLog log(path, 0, 0);
  UpdateReport report = update(1);
  report.loss = std::numeric_limits<double>::infinity();
  report.gradient_norm = std::nan("");
  log.add(report);
  const json line = json::parse(text::read_lines(path)[0]);
  EXPECT_TRUE(line["loss"].is_null());
  EXPECT_TRUE(line["gradient_norm"].is_null());
}

TEST(MetricsLog, KeepsLinesWhoseKindIsNoText) {
  const TemporaryFolder folder;
  const std::string path = folder.file("metrics.jsonl");
  const std::string line = R"({"kind":5,"update":1})"
                           "\n";
  std::ofstream(path) << line;
  { MetricsLog log(path, 1, 0); }
  EXPECT_EQ(io::read_file(path), line);
}

TEST(MetricsLog, RefusesWhatIsNoRegularFileAndNeverWaitsForIt) {
  const TemporaryFolder folder;
  const std::string pipe = folder.file("metrics.jsonl");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {pipe, std::string("/dev/null")}) {
    expect_error(ErrorKind::failed, path + ": expected a regular file, found something else",
                 [&] { MetricsLog(path, 0, 0); });
  }
}

// What the last line of a process says that loses its disk before it syncs.
void sync_without_a_disk(const std::string& path) {
  MetricsLog log(path, 0, 0);
  log.add(update(1));
  if (!make_calls_fail(SYS_fdatasync, EIO)) ::_exit(77);
  errno = 0;
  try {
    log.sync();
  } catch (const Error& error) {
    std::cerr << error.what() << std::endl;
    ::_exit(1);
  }
  ::_exit(0);
}

TEST(MetricsLogDeathTest, SaysWhyItCannotBeSynced) {
  const TemporaryFolder folder;
  EXPECT_EXIT(sync_without_a_disk(folder.file("metrics.jsonl")), testing::ExitedWithCode(1),
              "metrics.jsonl: cannot be written: Input/output error");
}

TEST(MetricsLog, AfterAnErrorNothingIsLostAndNothingIsWrittenTwice) {
  const TemporaryFolder folder;
  const std::string whole = folder.file("whole.jsonl"), path = folder.file("metrics.jsonl");
  write_three_updates(whole);
  const std::string bytes = io::read_file(whole);
  for (const bool is_synced : {false, true}) {
    for (std::size_t limit = 0; limit < bytes.size(); limit += 37) {
      SCOPED_TRACE(limit);
      std::filesystem::remove(path);
      MetricsLog log(path, 0, 0);
      log.add(update(1));
      if (is_synced) log.sync();
      log.queue(update(2));
      log.queue(validation(2));
      log.queue(update(3));
      {
        const FullDisk disk(limit);
        EXPECT_THROW(log.sync(), Error);
        EXPECT_THROW(log.flush(), Error);
      }
      log.sync();
      EXPECT_EQ(io::read_file(path), bytes);
    }
  }
}

TEST(MetricsLog, RefusesAFileThatLostSyncedLines) {
  const TemporaryFolder folder;
  const std::string path = folder.file("metrics.jsonl");
  MetricsLog log(path, 0, 0);
  log.add(update(1));
  log.sync();
  log.queue(update(2));
  {
    const FullDisk disk(10);
    EXPECT_THROW(log.flush(), Error);
  }
  std::filesystem::resize_file(path, 5);
  EXPECT_THROW(log.flush(), Error);
}

TEST(ReadLog, TellsOfTheBestValidationAndOfTheWholeRun) {
  const TemporaryFolder folder;
  const std::string path = folder.file("metrics.jsonl");
  MetricsLog log(path, 0, 0);
  for (const Index number : {1, 2, 3}) {
    log.add(update(number));
    ValidationReport report = validation(number);
    report.loss = static_cast<double>(number);
    report.is_best = number < 3;
    report.seconds = 10 * static_cast<double>(number);
    log.add(report);
  }
  const LoggedRun run = read_log(path);
  EXPECT_EQ(run.updates, 3);
  EXPECT_EQ(run.seconds, 30);
  ASSERT_TRUE(run.validation);
  EXPECT_EQ(run.validation->update, 2);
  EXPECT_EQ(run.validation->loss, 2);
  ASSERT_EQ(run.validation->scores.size(), 2u);
  EXPECT_EQ(run.validation->scores[0].name, "bleu");
  EXPECT_EQ(run.validation->score("exact_match"), 25);
}

TEST(ReadLog, LeavesOutWhatIsNoLineOfARun) {
  const TemporaryFolder folder;
  const std::string path = folder.file("metrics.jsonl");
  EXPECT_EQ(read_log(path).updates, 0);
  std::ofstream(path) << "{\"update\": 4, \"seconds\": \"x\"}\n[3]\n{\"update\": 1e99}\n"
                      << "{\"kind\": \"validation\", \"update\": 2, \"best\": 1}\n{\"upd";
  const LoggedRun run = read_log(path);
  EXPECT_EQ(run.updates, 4);
  EXPECT_EQ(run.seconds, 0);
  EXPECT_FALSE(run.validation);
}

}  // namespace
}  // namespace heed::train
