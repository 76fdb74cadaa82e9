// The columns of a file of records: which of them is for what, by the names in a header, by number,
// or by order.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/problem_type.h"
#include "heed/text/csv.h"

namespace heed::data {

// What a JSON object may hold besides a string: whole numbers, which become their digits; any
// number; or a list of strings, which are joined.
enum class JsonValue { whole_number, number, list };

inline constexpr char list_separator = '|';

// What a column is for, and the names under which files have it, its own first.
struct FieldRole {
  std::string name;
  std::vector<std::string> names;
  JsonValue value = JsonValue::whole_number;
  // Is there if it is named, by a header, an object or `fields`. Comes after those that must be.
  bool is_optional = false;
};

const std::vector<FieldRole>& labelled_roles();  // label, text
const std::vector<FieldRole>& pair_roles();      // source, target
const std::vector<FieldRole>& prompt_roles();    // prompt, answer

// Two texts with one label: always, never, or if the columns are named so.
enum class TextPairs { never, always, if_named };

// label, text and text_pair, the second text. Names and values of the label are those of the
// problem.
std::vector<FieldRole> labelled_roles(ProblemType problem, TextPairs pairs);

// Whether a column has one of the role's names, numbered or not, without case: text, Text_2.
bool is_named(const FieldRole& role, std::string_view column);

struct RecordOptions {
  // The columns, one for each role: names of a header or of JSON members, compared without case, or
  // numbers, from 1. Optional roles may lack one. Empty: every role is found by its names; without
  // a header, by order.
  std::vector<std::string> fields = {};
  // Of files with columns. Nothing: the first row is looked at.
  std::optional<bool> has_header = {};
};

// How many names: of two or three columns, {2, 3}.
struct FieldCount {
  FieldCount(std::size_t count) : min(count), max(count) {}
  FieldCount(std::size_t min, std::size_t max) : min(min), max(max) {}
  std::size_t min, max;
};

// "source,target" -> {"source", "target"}; nothing for an empty text. Refuses (ErrorKind::usage)
// empty names, names that occur twice, and another number of them; `what` is the start of the
// message.
std::vector<std::string> parse_field_names(std::string_view names, FieldCount count,
                                           std::string_view what);

// One for each role, without optional ones that are not there.
struct Columns {
  std::vector<std::size_t> of_role;  // from 0
  std::vector<std::string> names;    // of the columns: 'category', or: column 2
  bool has_header = false;
};

// "'category' is the label, 'text' the text"
std::string describe(std::span<const std::string> columns, std::span<const FieldRole> roles);

struct TableFormat {
  std::string file;               // for messages
  const char* separator = "tab";  // between columns
  // Without a header there may be more columns than roles; they are ignored.
  bool may_be_wider = true;
};

// The columns of a table with at least one row. A first row that holds the names of all roles is a
// header, and so is one that looks like it: short names, at least two of them well-known for
// columns, that do not occur again below; one is enough above a row of longer texts.
// Refuses (ErrorKind::data), with the remedy: a header without a column for each role, or with
// several; named fields without a header; and too few columns.
Columns choose_columns(std::span<const text::CsvRow> rows, std::span<const FieldRole> roles,
                       const RecordOptions& options, const TableFormat& format);

// The same for the names of a JSON object; a role that must be there and has no member keeps its
// first name.
std::vector<std::string> choose_members(const std::vector<std::string>& members,
                                        std::span<const FieldRole> roles,
                                        const RecordOptions& options, const std::string& where);

}  // namespace heed::data
