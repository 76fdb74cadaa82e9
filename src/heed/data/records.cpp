#include "heed/data/records.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "heed/base/cancellation.h"
#include "heed/base/error.h"
#include "heed/base/printable.h"
#include "heed/io/json_fields.h"
#include "heed/text/csv.h"

namespace heed::data {
namespace {

using Names = std::vector<std::string>;
using Rows = std::vector<text::CsvRow>;

std::string place(const std::string& file, std::size_t line) {
  return file + ':' + std::to_string(line) + ": ";
}

// "label, text", cut short: a first line may be a page of text.
std::string list_names(const Names& names) {
  std::string list;
  for (const std::string& name : names) list.append(list.empty() ? "" : ", ").append(name);
  return excerpt(list);
}

std::string count_columns(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " column" : " columns");
}

Names split(std::string_view line, char separator) {
  Names parts;
  for (;;) {
    const std::size_t end = line.find(separator);
    parts.emplace_back(line.substr(0, end));
    if (end == std::string_view::npos) return parts;
    line.remove_prefix(end + 1);
  }
}

Rows split_tsv(const std::vector<std::string>& lines) {
  Rows rows;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    check_cancelled(i);
    if (!lines[i].empty()) rows.push_back({i + 1, split(lines[i], '\t')});
  }
  return rows;
}

bool has(const Names& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

// Which columns hold the fields, and whether the first row only says so.
struct Columns {
  std::vector<std::size_t> of_field;
  bool is_header = false;
};

Columns first_columns(std::size_t count) {
  Columns columns;
  for (std::size_t i = 0; i < count; ++i) columns.of_field.push_back(i);
  return columns;
}

Columns columns_of_header(const Names& header, const Names& fields, const std::string& where) {
  Columns columns{.of_field = {}, .is_header = true};
  for (const std::string& field : fields) {
    const auto at = std::ranges::find(header, field);
    check_as(ErrorKind::data, at != header.end(), where, "expected a column '", field, "', found ",
             list_names(header));
    check_as(ErrorKind::data, std::find(at + 1, header.end(), field) == header.end(), where,
             "expected one column '", field, "', found several");
    columns.of_field.push_back(static_cast<std::size_t>(at - header.begin()));
  }
  return columns;
}

Columns columns_of_tsv(const Names& first, const Names& fields, const std::string& where) {
  const bool is_header =
      std::ranges::all_of(fields, [&](const std::string& field) { return has(first, field); });
  if (is_header) return columns_of_header(first, fields, where);
  check_as(ErrorKind::data, first.size() >= fields.size(), where, "expected ",
           count_columns(fields.size()), " (", list_names(fields),
           ") with a tab between them, found ", first.size());
  return first_columns(fields.size());
}

Columns columns_of_csv(const Names& first, const Names& fields, const std::string& where) {
  const bool has_any =
      std::ranges::any_of(fields, [&](const std::string& field) { return has(first, field); });
  if (has_any) return columns_of_header(first, fields, where);
  check_as(ErrorKind::data, first.size() == fields.size(), where, "expected a header with ",
           list_names(fields), ", or ", count_columns(fields.size()), ", found ",
           count_columns(first.size()), ": ", list_names(first));
  return first_columns(fields.size());
}

std::vector<Record> select_fields(Rows rows, const Columns& columns, const std::string& name) {
  const std::size_t width = rows.front().fields.size();
  const std::size_t first_line = rows.front().line;
  std::vector<Record> records;
  for (std::size_t i = columns.is_header ? 1 : 0; i < rows.size(); ++i) {
    check_cancelled(i);
    text::CsvRow& row = rows[i];
    check_as(ErrorKind::data, row.fields.size() == width, place(name, row.line), "expected ",
             count_columns(width), ", as in line ", first_line, ", found ", row.fields.size());
    Record record{.line = row.line, .values = {}};
    for (const std::size_t column : columns.of_field) {
      record.values.push_back(std::move(row.fields[column]));
    }
    records.push_back(std::move(record));
  }
  return records;
}

std::string member(const io::JsonFields& object, const std::string& name) {
  if (object.has(name) && object.json()[name].is_number_integer())
    return object.json()[name].dump();
  return object.text(name);
}

std::vector<Record> parse_jsonl(const std::vector<std::string>& lines, const Names& fields,
                                const std::string& name) {
  std::vector<Record> records;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    check_cancelled(i);
    if (lines[i].find_first_not_of(" \t") == std::string::npos) continue;
    const std::string where = name + ':' + std::to_string(i + 1);
    const auto object = io::JsonFields::parse(lines[i], where, ErrorKind::data);
    records.push_back({i + 1, {}});
    for (const std::string& field : fields) records.back().values.push_back(member(object, field));
  }
  return records;
}

enum class Format { tsv, csv, jsonl };

Format format_of(std::filesystem::path path) {
  const std::string name = path.string();
  if (path.extension() == ".gz") path = path.stem();
  const std::string extension = path.extension().string();
  if (extension == ".tsv") return Format::tsv;
  if (extension == ".csv") return Format::csv;
  check_as(ErrorKind::data, extension == ".jsonl", name,
           ": expected a name that ends in .tsv, .csv or .jsonl, found ",
           extension.empty() ? "none of them" : "'" + extension + "'");
  return Format::jsonl;
}

std::vector<Record> parse_records(Format format, const std::vector<std::string>& lines,
                                  const Names& fields, const std::string& name) {
  if (format == Format::jsonl) return parse_jsonl(lines, fields, name);
  const bool is_tsv = format == Format::tsv;
  Rows rows = is_tsv ? split_tsv(lines) : text::parse_csv(lines, name);
  if (rows.empty()) return {};
  const Names& first = rows.front().fields;
  const std::string where = place(name, rows.front().line);
  const Columns columns =
      is_tsv ? columns_of_tsv(first, fields, where) : columns_of_csv(first, fields, where);
  return select_fields(std::move(rows), columns, name);
}

}  // namespace

std::vector<Record> read_records(const std::filesystem::path& path, const Names& fields) {
  check(!fields.empty(), "read_records: expected the names of fields, got none");
  const Format format = format_of(path);
  const std::string name = path.string();
  std::vector<Record> records = parse_records(format, text::read_lines(path), fields, name);
  check_as(ErrorKind::data, !records.empty(), name, ": expected records with ", list_names(fields),
           ", found none");
  return records;
}

Names parse_field_names(std::string_view names, std::size_t count, std::string_view what) {
  Names fields = split(names, ',');
  check_as(ErrorKind::usage, fields.size() == count && !has(fields, ""), what, ": expected ", count,
           " names with a comma between them, found '", names, "'");
  for (auto field = fields.begin(); field != fields.end(); ++field) {
    check_as(ErrorKind::usage, std::find(field + 1, fields.end(), *field) == fields.end(), what,
             ": expected different names, found '", *field, "' twice");
  }
  return fields;
}

text::ParallelLines read_record_pairs(const std::filesystem::path& path, const Names& fields) {
  check(fields.size() == 2, "read_record_pairs: expected two fields, got ", fields.size());
  text::ParallelLines lines;
  for (Record& record : read_records(path, fields)) {
    lines.source.push_back(std::move(record.values[0]));
    lines.target.push_back(std::move(record.values[1]));
  }
  return lines;
}

}  // namespace heed::data
