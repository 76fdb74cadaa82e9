// Lines from a stream as they come, several at a time.
#pragma once

#include <istream>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "heed/base/index.h"
#include "heed/cli/command.h"
#include "heed/text/lines.h"

namespace heed::cli {

using text::max_line_bytes;  // a longer line is refused before it is in memory

enum class LineFormat {
  text,  // the line itself
  json,  // a JSON string, which may hold line ends
};

// The rules for lines are those of text::read_lines.
class LineChunks {
 public:
  LineChunks(std::istream& in, std::string name, LineFormat format = LineFormat::text)
      : in_(in), name_(std::move(name)), format_(format) {}

  // Waits for one line, then takes those that have arrived, at most `max_lines`, and no more than
  // about 4 MiB. Empty at the end. Refuses (ErrorKind::data) text that is not UTF-8, lines of more
  // than max_line_bytes, and what is not in the format, once the lines before it have been given
  // out.
  std::vector<std::string> next(std::size_t max_lines);

  Index num_lines() const { return num_lines_; }  // given out so far

 private:
  bool read_line(std::string& line);
  bool get_line(std::string& line);
  void decode(std::string& line) const;

  std::istream& in_;
  std::string name_;
  LineFormat format_;
  Index num_lines_ = 0;
  std::optional<std::string> mistake_;  // of the line that comes next
};

// Calls work(lines, number of the first, from 1) for all lines of standard input, chunk after
// chunk, and flushes what it has written to `out` after each.
template <typename Work>
void over_chunks(std::istream& in, std::ostream& out, LineFormat format, Work&& work) {
  // Enough lines to sort into full batches of similar lengths, few enough to see output soon.
  constexpr std::size_t lines_per_chunk = 2000;
  LineChunks input(in, "standard input", format);
  for (auto lines = input.next(lines_per_chunk); !lines.empty();
       lines = input.next(lines_per_chunk)) {
    work(lines, input.num_lines() - std::ssize(lines) + 1);
    out.flush();
  }
}

// Adds --json-input.
void add_line_format(Command& command, LineFormat& format);

}  // namespace heed::cli
