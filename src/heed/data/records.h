// Records: rows with named fields, from a file of tab-separated values, comma-separated values or
// JSON objects.
//
//   for (const Record& record : read_records("moods.csv", {"label", "text"})) {
//     add(record.values[0], record.values[1]);
//   }
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/lines.h"

namespace heed::data {

struct Record {
  std::size_t line;                 // of its start in the file, counted from 1
  std::vector<std::string> values;  // one for each field that was asked for, in that order
};

// Reads the fields of every record. The end of the name says how (each may be followed by .gz):
//
//   .tsv    one record a line, fields between tabs, nothing quoted. If the first line holds all of
//           the names asked for, it is a header, and fields are found by name. Otherwise there is
//           none, and the first columns are the fields, in order.
//   .csv    RFC 4180: fields between commas, in quotes if they hold commas, quotes or line ends.
//           The first row is a header, and fields are found by name; but a first row with none of
//           the names and exactly as many columns as fields is a record, as are all that follow.
//   .jsonl  one JSON object a line; fields are strings, or integers, which become their digits.
//
// Columns and members that were not asked for are ignored; so are empty lines.
// Refuses (ErrorKind::data), with file and line: another kind of file, text that is not UTF-8 (as
// text::read_lines does), a field that is missing, rows with more or fewer columns than the first,
// and files without any record.
std::vector<Record> read_records(const std::filesystem::path& path,
                                 const std::vector<std::string>& fields);

// "source,target" -> {"source", "target"}. Refuses (ErrorKind::usage) empty names, names that occur
// twice, and another number of them than `count`; `what` is the start of the message.
std::vector<std::string> parse_field_names(std::string_view names, std::size_t count,
                                           std::string_view what);

// Text to text from one file: the two fields of every record, side by side.
text::ParallelLines read_record_pairs(const std::filesystem::path& path,
                                      const std::vector<std::string>& fields = {"source",
                                                                                "target"});

}  // namespace heed::data
