// The lines of a log that another process is writing, as they come.
#pragma once

#include <string>
#include <vector>

#include "heed/base/index.h"

namespace heed::explore {

class MetricsTail {
 public:
  explicit MetricsTail(std::string path);
  ~MetricsTail();
  MetricsTail(const MetricsTail&) = delete;
  MetricsTail& operator=(const MetricsTail&) = delete;

  struct News {
    // The file was replaced, cut or taken away (a run that resumes from a checkpoint loses what
    // came after): forget all lines so far.
    bool is_rewritten = false;
    std::vector<std::string> lines = {};  // without line ends
  };
  // What came since the last call. A last line without its end waits until it is whole. What is no
  // regular file, or not there, has no lines.
  News read();

 private:
  bool is_same_file() const;
  void open();
  void close();

  std::string path_;
  int descriptor_ = -1;  // stays open, so that no other file can get its number
  Index offset_ = 0;     // after the last whole line
};

}  // namespace heed::explore
