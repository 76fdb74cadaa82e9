#include "heed/text/csv.h"

#include <algorithm>
#include <string_view>

#include "heed/base/cancellation.h"
#include "heed/base/error.h"
#include "heed/text/lines.h"

namespace heed::text {
namespace {

class CsvParser {
 public:
  CsvParser(std::span<const std::string> lines, const std::string& name, CsvBlanks blanks)
      : lines_(lines), name_(name), skips_blanks_(blanks == CsvBlanks::skip) {}

  std::vector<CsvRow> rows() {
    std::vector<CsvRow> rows;
    for (; line_ < lines_.size(); ++line_) {
      check_cancelled(line_);
      if (trim(lines_[line_]).empty()) continue;
      rows.push_back({line_ + 1, {}});
      rows.back().fields = fields();
    }
    return rows;
  }

 private:
  std::string_view line() const { return lines_[line_]; }

  // The fields of the row that begins at this line; afterwards line_ is the row's last one.
  std::vector<std::string> fields() {
    std::vector<std::string> fields;
    for (at_ = 0;; ++at_) {
      fields.push_back(field());
      if (at_ == line().size()) return fields;
    }
  }

  // Leaves at_ at the comma after the field, or at the end of the line.
  std::string field() {
    const std::size_t first = skips_blanks_ ? line().find_first_not_of(" \t", at_) : at_;
    if (first < line().size() && line()[first] == '"') {
      at_ = first + 1;
      std::string field = read_quoted();
      const std::string_view rest = trim(up_to_comma());
      check_as(ErrorKind::data, rest.empty(), place(line_),
               "expected a comma after the closing quote, found '", rest, "'");
      return field;
    }
    const std::string_view plain = up_to_comma();
    return std::string(skips_blanks_ ? trim(plain) : plain);
  }

  std::string_view up_to_comma() {
    const std::size_t begin = at_;
    at_ = std::min(line().find(',', at_), line().size());
    return line().substr(begin, at_ - begin);
  }

  // From after the opening quote to after the closing one, across line ends.
  std::string read_quoted() {
    const std::size_t first_line = line_;
    std::string field;
    for (;;) {
      const std::size_t quote = line().find('"', at_);
      field += line().substr(at_, quote - at_);
      if (quote == std::string_view::npos) {
        next_line(first_line);
        field += '\n';
      } else if (quote + 1 < line().size() && line()[quote + 1] == '"') {
        field += '"';  // a doubled quote is a quote
        at_ = quote + 2;
      } else {
        at_ = quote + 1;
        return field;
      }
    }
  }

  void next_line(std::size_t first_line) {
    check_as(ErrorKind::data, ++line_ < lines_.size(), place(first_line),
             "expected a closing quote, found the end of the file");
    at_ = 0;
  }

  std::string place(std::size_t line) const {
    return name_ + ':' + std::to_string(line + 1) + ": ";
  }

  std::span<const std::string> lines_;
  const std::string& name_;
  bool skips_blanks_;
  std::size_t line_ = 0;  // counted from 0
  std::size_t at_ = 0;    // in the line
};

}  // namespace

std::vector<CsvRow> parse_csv(std::span<const std::string> lines, const std::string& name,
                              CsvBlanks blanks) {
  return CsvParser(lines, name, blanks).rows();
}

std::string csv_field(const std::string& text) {
  const bool is_plain = text.find_first_of(",\"\n\r") == std::string::npos && trim(text) == text;
  if (is_plain) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace heed::text
