#include "heed/cli/line_chunks.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/io/strict_json.h"

namespace heed::cli {
namespace {

constexpr std::size_t max_chunk_bytes = 4 << 20;

}  // namespace

std::vector<std::string> LineChunks::next(std::size_t max_lines) {
  if (mistake_) fail(ErrorKind::data, *std::exchange(mistake_, std::nullopt));
  std::vector<std::string> lines;
  std::size_t num_bytes = 0;
  std::string line;
  while (lines.size() < max_lines && num_bytes < max_chunk_bytes && read_line(line)) {
    num_bytes += line.size();
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
  try {
    if (!get_line(line)) return false;
    if (num_lines_ == 0 && line.starts_with(byte_order_mark)) {
      line.erase(0, byte_order_mark.size());
      if (line.empty() && in_.eof()) return false;
    }
    if (line.ends_with('\r')) line.pop_back();
    decode(line);
  } catch (const Error& error) {
    mistake_ = error.what();
  }
  return !mistake_;
}

// As std::getline, but refuses a line that is too long, and a stream that cannot be read.
bool LineChunks::get_line(std::string& line) {
  using Traits = std::istream::traits_type;
  line.clear();
  const std::istream::sentry is_ready(in_, /*noskipws=*/true);
  if (!is_ready) return false;
  try {
    while (true) {
      const auto byte = in_.rdbuf()->sbumpc();
      if (Traits::eq_int_type(byte, Traits::eof())) {
        in_.setstate(std::ios::eofbit);
        return !line.empty();
      }
      if (byte == '\n') return true;
      check_as(ErrorKind::data, line.size() < max_line_bytes, name_, ":", num_lines_ + 1,
               ": expected a line of at most ", max_line_bytes, " bytes, found a longer one");
      line += Traits::to_char_type(byte);
    }
  } catch (const std::ios_base::failure&) {
    fail(ErrorKind::data, name_, ": cannot be read");
  }
}

void LineChunks::decode(std::string& line) const {
  const std::string place = fmt::format("{}:{}", name_, num_lines_ + 1);
  if (const auto at = first_invalid_byte(line)) {
    fail(ErrorKind::data, fmt::format("{}: not valid UTF-8 at byte {} (found {:#04x})", place,
                                      *at + 1, static_cast<unsigned char>(line[*at])));
  }
  if (format_ == LineFormat::text) return;
  const nlohmann::json value = io::parse_strict_json(line, place, /*max_depth=*/1, ErrorKind::data);
  check_as(ErrorKind::data, value.is_string(), place, ": expected a JSON string, found ",
           value.type_name());
  line = value.get<std::string>();
}

void add_line_format(Command& command, LineFormat& format) {
  command.app()
      ->add_flag_callback(
          "--json-input", [&format] { format = LineFormat::json; },
          "every input line is a JSON string, which may hold line ends: \"two\\nlines\"")
      ->group(option_group::input);
}

}  // namespace heed::cli
