#include "heed/text/lines.h"

#include <array>
#include <istream>
#include <string_view>
#include <utility>

#include "heed/base/cancellation.h"
#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/io/compressed_file.h"
#include "heed/io/require_memory.h"

namespace heed::text {
namespace {

constexpr std::size_t chunk_size = 1 << 16;
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

// Collects lines from pieces of text that are cut anywhere.
class LineCollector {
 public:
  LineCollector(std::string name, std::size_t max_bytes)
      : name_(std::move(name)), max_bytes_(max_bytes) {}

  void add(std::string_view chunk) {
    for (;;) {
      const std::size_t end = chunk.find('\n');
      line_.append(chunk.substr(0, end));
      check_as(ErrorKind::data, line_.size() <= max_bytes_, name_, ":", lines_.size() + 1,
               ": expected a line of at most ", max_bytes_, " bytes, found a longer one");
      if (end == std::string_view::npos) return;
      finish_line();
      chunk.remove_prefix(end + 1);
    }
  }

  std::vector<std::string> take() {
    const bool only_a_mark = lines_.empty() && line_ == byte_order_mark;
    if (!line_.empty() && !only_a_mark) finish_line();
    return std::move(lines_);
  }

 private:
  void finish_line() {
    if (lines_.empty() && line_.starts_with(byte_order_mark)) {
      line_.erase(0, byte_order_mark.size());
    }
    if (line_.ends_with('\r')) line_.pop_back();
    check_encoding();
    lines_.push_back(line_);
    line_.clear();
  }

  void check_encoding() const {
    const auto at = first_invalid_byte(line_);
    if (!at) return;
    constexpr char digits[] = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(line_[*at]);
    fail(ErrorKind::data, name_, ":", lines_.size() + 1, ": not valid UTF-8 at byte ", *at + 1,
         " (found 0x", digits[byte >> 4], digits[byte & 15], ")");
  }

  std::string name_;
  std::size_t max_bytes_;
  std::string line_;
  std::vector<std::string> lines_;
};

// "1 line", "2 lines"
std::string count_of_lines(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " line" : " lines");
}

}  // namespace

std::vector<std::string> read_lines(const std::filesystem::path& path, std::size_t max_bytes) {
  io::CompressedFile file(path.string(), "a text file");
  const std::string name = path == standard_input ? "standard input" : path.string();
  LineCollector lines(name, max_bytes);
  std::size_t num_bytes = 0;
  const auto what = [&] { return "a text of more than " + std::to_string(num_bytes) + " bytes"; };
  return io::require_memory(ErrorKind::data, name, what, [&] {
    std::array<char, chunk_size> chunk;
    for (std::size_t length = chunk.size(); length == chunk.size(); num_bytes += length) {
      check_cancelled();
      length = file.read(chunk);
      lines.add({chunk.data(), length});
    }
    return lines.take();
  });
}

std::vector<std::string> read_lines(std::istream& in, const std::string& name) {
  LineCollector lines(name, max_line_bytes);
  std::array<char, chunk_size> chunk;
  do {
    in.read(chunk.data(), chunk.size());
    lines.add({chunk.data(), static_cast<std::size_t>(in.gcount())});
  } while (in);
  check_as(ErrorKind::data, !in.bad(), name, ": cannot read");
  return lines.take();
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos;
}

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

ParallelLines read_parallel_lines(const std::filesystem::path& source,
                                  const std::filesystem::path& target) {
  ParallelLines lines{.source = read_lines(source), .target = read_lines(target)};
  check_as(ErrorKind::data, lines.source.size() == lines.target.size(), source.string(), " has ",
           count_of_lines(lines.source.size()), " but ", target.string(), " has ",
           count_of_lines(lines.target.size()), "; expected one line for each line");
  check_as(ErrorKind::data, !lines.source.empty(), source.string(), " and ", target.string(),
           ": expected lines of text, found none");
  return lines;
}

}  // namespace heed::text
