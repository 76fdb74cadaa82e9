// training/metrics.jsonl: one JSON object a line, for every update and every validation.
#pragma once

#include <optional>
#include <string>

#include "heed/base/index.h"
#include "heed/train/training_observer.h"

namespace heed::train {

// Append-only, except when a run is resumed from a checkpoint: then the lines after it are removed,
// so that the log ends up like that of an uninterrupted run, except for the times.
class MetricsLog {
 public:
  // Keeps the updates up to `update` and the validations up to `validated_update`.
  MetricsLog(std::string path, Index update, Index validated_update);
  ~MetricsLog();
  MetricsLog(const MetricsLog&) = delete;
  MetricsLog& operator=(const MetricsLog&) = delete;

  // Only remembers the line; flush() writes it.
  void queue(const UpdateReport& report);
  void queue(const ValidationReport& report);
  // After an Error both may be called again: nothing is lost, and nothing is written twice.
  void flush();
  void sync();  // before a checkpoint that counts on these lines

  void add(const UpdateReport& report) { queue(report), flush(); }
  void add(const ValidationReport& report) { queue(report), flush(); }

  // As in the constructor.
  void truncate(Index update, Index validated_update);

 private:
  void open();
  void close();
  [[noreturn]] void fail_writing(int error);

  std::string path_;
  int descriptor_ = -1;
  Index synced_size_ = 0;        // of the file, when it was last synced
  std::string unsynced_;         // all lines since then
  std::size_t num_written_ = 0;  // bytes of them that are in the file
};

// A run as its log tells it.
struct LoggedRun {
  Index updates = 0;
  double seconds = 0;
  // The validation whose weights are the model: the last one that was the best; without samples.
  std::optional<ValidationReport> validation = {};
};

// Leaves out what is no line of a run. A log that is not there is that of a run without updates.
LoggedRun read_log(const std::string& path);

}  // namespace heed::train
