#include "heed/cli/csv.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "heed/base/error.h"
#include "heed/text/csv.h"
#include "heed/text/lines.h"

namespace heed::cli {
namespace {

using Row = text::CsvRow;

std::string place(const std::string& file, std::size_t line) {
  return file + ':' + std::to_string(line) + ": ";
}

std::string shown_name(const std::string& path) { return path == "-" ? "standard input" : path; }

std::vector<Row> read_rows(const std::string& path, std::istream& in) {
  const std::string name = shown_name(path);
  const auto lines = path == "-" ? text::read_lines(in, name) : text::read_lines(path);
  return text::parse_csv(lines, name, text::CsvBlanks::skip);
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
  return Tensor::from(values, {std::ssize(rows), static_cast<Index>(width - first_column)});
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

}  // namespace heed::cli
