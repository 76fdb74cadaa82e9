// Lines of text from files and streams: checked, and counted the same way everywhere.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace heed::text {

// How long a line may be. Tokenizing takes some 240 bytes of memory for each byte of a word, so a
// line that somebody waits for is bounded tightly, a line of training data generously. Running text
// has the largest bound: the corpus text8 is one line of 100 MB.
inline constexpr std::size_t max_line_bytes = std::size_t{1} << 20;
inline constexpr std::size_t max_file_line_bytes = std::size_t{1} << 24;
inline constexpr std::size_t max_running_line_bytes = std::size_t{1} << 28;

// The path of standard input.
inline constexpr const char* standard_input = "-";

// Reads a file, compressed by gzip or zstd, or not; "-" is standard input. Lines end with '\n' and
// with nothing else, so a line is what every other tool calls a line; one '\r' before it is
// dropped, and so is a byte order mark at the start of the file. A last line without '\n' counts.
// Refuses (ErrorKind::data): a file that is missing, unreadable or damaged, text that is not UTF-8,
// with file, line and byte, all counted from 1, and a line of more than `max_bytes`.
std::vector<std::string> read_lines(const std::filesystem::path& path,
                                    std::size_t max_bytes = max_file_line_bytes);

// The same from a stream, with lines of at most max_line_bytes; `name` stands for it in messages.
std::vector<std::string> read_lines(std::istream& in, const std::string& name);

// Nothing but spaces, tabs and the like.
bool is_blank(std::string_view line);

// Without spaces and tabs at both ends. The result points into `text`.
std::string_view trim(std::string_view text);

// Two texts of which line i of one belongs to line i of the other.
struct ParallelLines {
  std::vector<std::string> source;
  std::vector<std::string> target;
};

// Refuses (ErrorKind::data) files of different lengths, and files without any line.
ParallelLines read_parallel_lines(const std::filesystem::path& source,
                                  const std::filesystem::path& target);

}  // namespace heed::text
