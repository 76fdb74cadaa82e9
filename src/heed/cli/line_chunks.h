// Lines from a stream as they come, several at a time.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "heed/base/index.h"

namespace heed::cli {

// The rules for lines are those of text::read_lines.
class LineChunks {
 public:
  LineChunks(std::istream& in, std::string name) : in_(in), name_(std::move(name)) {}

  // Waits for one line, then takes those that have arrived, at most `max_lines`. Empty at the end.
  // Refuses (ErrorKind::data) text that is not UTF-8, once the lines before it have been given out.
  std::vector<std::string> next(std::size_t max_lines);

  Index num_lines() const { return num_lines_; }  // given out so far

 private:
  bool read_line(std::string& line);

  std::istream& in_;
  std::string name_;
  Index num_lines_ = 0;
  std::optional<std::string> mistake_;  // of the line that comes next
};

// Calls work(lines, number of the first, from 1) for all lines of standard input, chunk after
// chunk, and flushes what it has written to `out` after each.
template <typename Work>
void over_chunks(std::istream& in, std::ostream& out, Work&& work) {
  // Enough lines for full batches, few enough to see output soon.
  constexpr std::size_t lines_per_chunk = 2000;
  LineChunks input(in, "standard input");
  for (auto lines = input.next(lines_per_chunk); !lines.empty();
       lines = input.next(lines_per_chunk)) {
    work(lines, input.num_lines() - static_cast<Index>(lines.size()) + 1);
    out.flush();
  }
}

}  // namespace heed::cli
