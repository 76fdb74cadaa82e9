#include "heed/data/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "heed/base/cancellation.h"
#include "heed/base/error.h"
#include "heed/base/printable.h"
#include "heed/data/record_file.h"
#include "heed/io/json_fields.h"
#include "heed/text/lines.h"

namespace heed::data {
namespace {

using Names = std::vector<std::string>;
using Rows = std::vector<text::CsvRow>;

std::string list_names(std::span<const FieldRole> roles) {
  std::string list;
  for (const FieldRole& role : roles) list.append(list.empty() ? "" : ", ").append(role.name);
  return list;
}

std::string count_columns(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " column" : " columns");
}

std::vector<Record> select_fields(Rows rows, const Columns& columns, const RecordFile& file) {
  const std::size_t width = rows.front().fields.size();
  const std::size_t first_line = rows.front().line;
  std::vector<Record> records;
  for (std::size_t i = columns.has_header ? 1 : 0; i < rows.size(); ++i) {
    check_cancelled(i);
    text::CsvRow& row = rows[i];
    check_as(ErrorKind::data, row.fields.size() == width, file.place(row.line), "expected ",
             count_columns(width), ", as in line ", first_line, ", found ", row.fields.size());
    Record record{.line = row.line, .values = {}};
    for (const std::size_t column : columns.of_role) {
      record.values.push_back(std::move(row.fields[column]));
    }
    records.push_back(std::move(record));
  }
  return records;
}

// "red|blue"
std::string joined_list(const Names& items, const std::string& where) {
  std::string list;
  for (const std::string& item : items) {
    check_as(ErrorKind::data, !text::is_blank(item) && item.find(list_separator) == item.npos,
             where, ": expected strings that are not blank and without ", list_separator,
             ", found \"", excerpt(item), '"');
    list.append(list.empty() ? "" : std::string(1, list_separator)).append(item);
  }
  return list;
}

std::string member(const io::JsonFields& object, const std::string& name, JsonValue allowed,
                   const std::string& where) {
  if (!object.has(name)) return text_member(object, name);
  const nlohmann::json& value = object.json()[name];
  if (allowed == JsonValue::number && value.is_number()) return value.dump();
  if (allowed == JsonValue::list && value.is_array()) {
    return joined_list(object.texts(name), where + ": " + name);
  }
  return text_member(object, name);
}

// The first object says which members hold the roles.
Records parse_jsonl(const RecordFile& file, std::span<const FieldRole> roles,
                    const RecordOptions& options) {
  Records all;
  Names members;
  file.for_each_object([&](std::size_t line, const io::JsonFields& object) {
    const std::string where = file.name + ':' + std::to_string(line);
    if (members.empty()) members = choose_members(object.names(), roles, options, where);
    all.records.push_back({line, {}});
    for (std::size_t role = 0; role < members.size(); ++role) {
      all.records.back().values.push_back(member(object, members[role], roles[role].value, where));
    }
  });
  if (!members.empty()) {
    Names quoted;
    for (const std::string& one : members) quoted.push_back(fmt::format("'{}'", excerpt(one)));
    all.columns = describe(quoted, roles);
  }
  return all;
}

Records parse_table(const RecordFile& file, std::span<const FieldRole> roles,
                    const RecordOptions& options) {
  Rows rows = file.rows();
  if (rows.empty()) return {};
  const bool is_tsv = file.format == RecordFormat::tsv;
  const Columns columns = choose_columns(
      rows, roles, options,
      {.file = file.name, .separator = is_tsv ? "tab" : "comma", .may_be_wider = is_tsv});
  std::string understood =
      describe(columns.names, roles) + (columns.has_header ? " (header)" : " (no header)");
  return {select_fields(std::move(rows), columns, file), std::move(understood)};
}

}  // namespace

Records read_records(const std::filesystem::path& path, std::span<const FieldRole> roles,
                     const RecordOptions& options) {
  const auto num_needed =
      static_cast<std::size_t>(std::ranges::count(roles, false, &FieldRole::is_optional));
  const std::size_t num_given = options.fields.size();
  check(
      !roles.empty() && (num_given == 0 || (num_given >= num_needed && num_given <= roles.size())),
      "read_records: expected a field for each of ", roles.size(), " roles, got ", num_given);
  const RecordFile file = RecordFile::read(path);
  Records records =
      file.has_columns() ? parse_table(file, roles, options) : parse_jsonl(file, roles, options);
  check_as(ErrorKind::data, !records.records.empty(), file.name, ": expected records with ",
           list_names(roles), ", found none");
  return records;
}

RecordPairs read_record_pairs(const std::filesystem::path& path, const RecordOptions& options,
                              std::span<const FieldRole> roles) {
  Records records = read_records(path, roles, options);
  RecordPairs pairs{.lines = {}, .columns = std::move(records.columns)};
  for (Record& record : records.records) {
    pairs.lines.source.push_back(std::move(record.values[0]));
    pairs.lines.target.push_back(std::move(record.values[1]));
  }
  return pairs;
}

}  // namespace heed::data
