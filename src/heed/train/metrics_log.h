// training/metrics.jsonl: one JSON object a line, for every update and every validation.
#pragma once

#include <string>

#include "heed/base/index.h"
#include "heed/train/training_observer.h"

namespace heed::train {

// Only ever grows, except when a run goes on from a checkpoint: then it loses what came after, so
// that in the end it says what the log of an uninterrupted run says, but for the times.
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
