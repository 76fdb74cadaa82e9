#include "heed/cli/csv.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include "heed/base/error.h"
#include "heed/text/lines.h"

namespace heed::cli {
namespace {

struct Row {
  std::size_t line;  // counted from 1
  std::vector<std::string> fields;
};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string place(const std::string& file, std::size_t line) {
  return file + ':' + std::to_string(line) + ": ";
}

// The text of a field that begins with a quote, and where it ends: behind the closing quote.
std::string quoted_field(std::string_view line, std::size_t& at, const std::string& where) {
  std::string field;
  for (++at; at < line.size(); ++at) {
    if (line[at] != '"') {
      field += line[at];
    } else if (at + 1 < line.size() && line[at + 1] == '"') {  // a doubled quote is a quote
      field += line[at++];
    } else {
      ++at;
      return field;
    }
  }
  fail(ErrorKind::data, where, "expected a closing quote, found the end of the line");
}

std::vector<std::string> split(std::string_view line, const std::string& where) {
  std::vector<std::string> fields;
  for (std::size_t at = 0;;) {
    const std::size_t first = line.find_first_not_of(" \t", at);
    if (first != std::string_view::npos && line[first] == '"') {
      at = first;
      fields.push_back(quoted_field(line, at, where));
      const std::size_t comma = std::min(line.find(',', at), line.size());
      check_as(ErrorKind::data, trimmed(line.substr(at, comma - at)).empty(), where,
               "expected a comma behind the closing quote, found '",
               trimmed(line.substr(at, comma - at)), "'");
      at = comma;
    } else {
      const std::size_t comma = std::min(line.find(',', at), line.size());
      fields.emplace_back(trimmed(line.substr(at, comma - at)));
      at = comma;
    }
    if (at == line.size()) return fields;
    ++at;
  }
}

std::string shown_name(const std::string& path) { return path == "-" ? "standard input" : path; }

std::vector<Row> read_rows(const std::string& path, std::istream& in) {
  const std::string name = shown_name(path);
  const auto lines = path == "-" ? text::read_lines(in, name) : text::read_lines(path);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (trimmed(lines[i]).empty()) continue;
    rows.push_back({i + 1, split(lines[i], place(name, i + 1))});
  }
  return rows;
}

float parse_number(const std::string& field, const std::string& where, std::size_t column) {
  const std::size_t sign = field.starts_with('+') ? 1 : 0;
  const char* end = field.data() + field.size();
  double value = 0;
  const auto [stop, error] = std::from_chars(field.data() + sign, end, value);
  check_as(ErrorKind::data, error == std::errc() && stop == end && std::isfinite(value), where,
           "expected a number in column ", column + 1, ", found '", field, "'");
  check_as(ErrorKind::data, std::abs(value) <= std::numeric_limits<float>::max(), where,
           "expected a number of at most 3.4e38 in column ", column + 1, ", found '", field, "'");
  return static_cast<float>(value);
}

// The numbers of all rows from column `first_column` on, as many in each row.
Tensor parse_numbers(const std::vector<Row>& rows, std::size_t first_column,
                     const std::string& name) {
  const std::size_t width = rows.front().fields.size();
  std::vector<float> values;
  for (const Row& row : rows) {
    const std::string where = place(name, row.line);
    check_as(ErrorKind::data, row.fields.size() == width, where, "expected ", width,
             " columns, as in line ", rows.front().line, ", found ", row.fields.size());
    for (std::size_t column = first_column; column < width; ++column) {
      values.push_back(parse_number(row.fields[column], where, column));
    }
  }
  return Tensor::from(values,
                      {static_cast<Index>(rows.size()), static_cast<Index>(width - first_column)});
}

bool is_header(const Row& row) {
  return row.line == 1 && (row.fields[0] == "name" || row.fields[0] == "word");
}

}  // namespace

NamedVectors read_named_vectors(const std::string& path, std::istream& in) {
  const std::string name = shown_name(path);
  std::vector<Row> rows = read_rows(path, in);
  if (!rows.empty() && is_header(rows.front())) rows.erase(rows.begin());
  check_as(ErrorKind::data, !rows.empty(), name,
           ": expected a name and coordinates on every line, found no lines");

  NamedVectors named;
  for (const Row& row : rows) {
    check_as(ErrorKind::data, row.fields.size() > 1, place(name, row.line),
             "expected a name and coordinates, found one column");
    check_as(ErrorKind::data, !row.fields[0].empty(), place(name, row.line),
             "expected a name in column 1, found nothing");
    named.names.push_back(row.fields[0]);
  }
  named.vectors = parse_numbers(rows, 1, name);
  return named;
}

Tensor read_matrix(const std::string& path, std::istream& in) {
  const std::string name = shown_name(path);
  const std::vector<Row> rows = read_rows(path, in);
  check_as(ErrorKind::data, !rows.empty(), name, ": expected rows of numbers, found no lines");
  return parse_numbers(rows, 0, name);
}

std::string csv_field(const std::string& text) {
  const bool is_plain = text.find_first_of(",\"\n\r") == std::string::npos && trimmed(text) == text;
  if (is_plain) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace heed::cli
