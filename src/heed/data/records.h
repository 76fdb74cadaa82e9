// Records: rows with named fields, from a file of tab-separated values, comma-separated values or
// JSON objects.
//
//   const Records moods = read_records("moods.csv", labelled_roles());
//   for (const Record& record : moods.records) add(record.values[0], record.values[1]);
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "heed/data/record_columns.h"
#include "heed/text/lines.h"

namespace heed::data {

struct Record {
  std::size_t line;                 // of its start in the file, counted from 1
  std::vector<std::string> values;  // one for each role that is there, in that order
};

struct Records {
  std::vector<Record> records;
  std::string columns;  // what was understood: "'category' is the label, 'text' the text (header)"
};

// Reads the fields of every record. The end of the name says how (each may be followed by .gz or
// .zst):
//
//   .tsv    one record a line, fields between tabs, nothing quoted. See choose_columns for the
//           columns. Without a header they are the first ones, in order.
//   .csv    RFC 4180: fields between commas, in quotes if they hold commas, quotes or line ends.
//           The same, but without a header there are as many columns as roles.
//   .jsonl  one JSON object a line; fields are strings, or what JsonValue says.
//
// Standard input ("-") has no name: it holds objects if it begins with '{', tab-separated values if
// its first line has a tab, and comma-separated values otherwise.
// Columns and members that were not asked for are ignored; so are empty lines.
// Refuses (ErrorKind::data), with file and line: another kind of file, text that is not UTF-8 (as
// text::read_lines does), a field that is missing, rows with more or fewer columns than the first,
// and files without any record.
Records read_records(const std::filesystem::path& path, std::span<const FieldRole> roles,
                     const RecordOptions& options = {});

// Text to text from one file: the two fields of every record, side by side. The roles are two:
// source and target, or prompt and answer.
struct RecordPairs {
  text::ParallelLines lines;
  std::string columns;  // as in Records
};
RecordPairs read_record_pairs(const std::filesystem::path& path, const RecordOptions& options = {},
                              std::span<const FieldRole> roles = pair_roles());

}  // namespace heed::data
