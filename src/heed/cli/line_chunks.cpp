#include "heed/cli/line_chunks.h"

#include <fmt/format.h>

#include <istream>
#include <string_view>
#include <utility>

#include "heed/base/error.h"
#include "heed/text/utf8.h"

namespace heed::cli {

std::vector<std::string> LineChunks::next(std::size_t max_lines) {
  if (mistake_) fail(ErrorKind::data, *std::exchange(mistake_, std::nullopt));
  std::vector<std::string> lines;
  std::string line;
  while (lines.size() < max_lines && read_line(line)) {
    lines.push_back(std::move(line));
    ++num_lines_;
    if (in_.rdbuf()->in_avail() <= 0) break;  // the next line would have to be waited for
  }
  if (lines.empty() && mistake_) fail(ErrorKind::data, *std::exchange(mistake_, std::nullopt));
  return lines;
}

// False at the end, and at a line with a mistake.
bool LineChunks::read_line(std::string& line) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (!std::getline(in_, line)) return false;
  if (num_lines_ == 0 && line.starts_with(byte_order_mark)) {
    line.erase(0, byte_order_mark.size());
    if (line.empty() && in_.eof()) return false;
  }
  if (line.ends_with('\r')) line.pop_back();
  if (const auto at = text::first_invalid_byte(line)) {
    mistake_ = fmt::format("{}:{}: not valid UTF-8 at byte {} (found {:#04x})", name_,
                           num_lines_ + 1, *at + 1, static_cast<unsigned char>(line[*at]));
  }
  return !mistake_;
}

}  // namespace heed::cli
