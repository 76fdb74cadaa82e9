// Comma-separated values as RFC 4180 writes them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace heed::text {

struct CsvRow {
  std::size_t line;  // where it begins, counted from 1
  std::vector<std::string> fields;
};

// Blanks and tabs around fields, outside of quotes: part of the field, or not.
enum class CsvBlanks { keep, skip };

// The rows of these lines, as text::read_lines gives them. A field in quotes may hold commas,
// doubled quotes and line ends; blank lines between rows are skipped.
// Refuses (ErrorKind::data), with `name` and the line: a quote that is never closed, and anything
// but a comma or the end of the line after a closing quote.
std::vector<CsvRow> parse_csv(std::span<const std::string> lines, const std::string& name,
                              CsvBlanks blanks = CsvBlanks::keep);

// A field as it is written: quoted when it has to be.
std::string csv_field(const std::string& text);

}  // namespace heed::text
