// training/metrics.jsonl: one JSON object a line, for every update and every validation.
#pragma once

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

  void add(const UpdateReport& report);
  void add(const ValidationReport& report);
  void sync();  // before a checkpoint that counts on these lines

 private:
  void append(std::string line);

  std::string path_;
  int descriptor_ = -1;
};

}  // namespace heed::train
