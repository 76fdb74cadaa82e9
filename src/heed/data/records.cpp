#include "heed/data/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
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

std::string list_names(std::span<const FieldRole> roles) {
  std::string list;
  for (const FieldRole& role : roles) list.append(list.empty() ? "" : ", ").append(role.name);
  return list;
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

std::vector<Record> select_fields(Rows rows, const Columns& columns, const std::string& name) {
  const std::size_t width = rows.front().fields.size();
  const std::size_t first_line = rows.front().line;
  std::vector<Record> records;
  for (std::size_t i = columns.has_header ? 1 : 0; i < rows.size(); ++i) {
    check_cancelled(i);
    text::CsvRow& row = rows[i];
    check_as(ErrorKind::data, row.fields.size() == width, place(name, row.line), "expected ",
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
  if (!object.has(name)) return object.text(name);
  const nlohmann::json& value = object.json()[name];
  const bool is_number = allowed == JsonValue::number && value.is_number();
  if (is_number || value.is_number_integer()) return value.dump();
  if (allowed == JsonValue::list && value.is_array()) {
    return joined_list(object.texts(name), where + ": " + name);
  }
  return object.text(name);
}

// The first object says which members hold the roles.
Records parse_jsonl(const std::vector<std::string>& lines, std::span<const FieldRole> roles,
                    const RecordOptions& options, const std::string& name) {
  Records all;
  Names members;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    check_cancelled(i);
    if (lines[i].find_first_not_of(" \t") == std::string::npos) continue;
    const std::string where = name + ':' + std::to_string(i + 1);
    const auto object = io::JsonFields::parse(lines[i], where, ErrorKind::data);
    if (members.empty()) members = choose_members(object.names(), roles, options, where);
    all.records.push_back({i + 1, {}});
    for (std::size_t role = 0; role < members.size(); ++role) {
      all.records.back().values.push_back(member(object, members[role], roles[role].value, where));
    }
  }
  if (!members.empty()) {
    Names quoted;
    for (const std::string& one : members) quoted.push_back(fmt::format("'{}'", excerpt(one)));
    all.columns = describe(quoted, roles);
  }
  return all;
}

Records parse_table(bool is_tsv, const std::vector<std::string>& lines,
                    std::span<const FieldRole> roles, const RecordOptions& options,
                    const std::string& name) {
  Rows rows = is_tsv ? split_tsv(lines) : text::parse_csv(lines, name);
  if (rows.empty()) return {};
  const Columns columns =
      choose_columns(rows, roles, options,
                     {.file = name, .separator = is_tsv ? "tab" : "comma", .may_be_wider = is_tsv});
  std::string understood =
      describe(columns.names, roles) + (columns.has_header ? " (header)" : " (no header)");
  return {select_fields(std::move(rows), columns, name), std::move(understood)};
}

enum class Format { tsv, csv, jsonl };

Format format_of(std::filesystem::path path) {
  const std::string name = path.string();
  if (path.extension() == ".gz" || path.extension() == ".zst") path = path.stem();
  const std::string extension = path.extension().string();
  if (extension == ".tsv") return Format::tsv;
  if (extension == ".csv") return Format::csv;
  check_as(ErrorKind::data, extension == ".jsonl", name,
           ": expected a name that ends in .tsv, .csv or .jsonl, found ",
           extension.empty() ? "none of them" : "'" + extension + "'");
  return Format::jsonl;
}

Format format_of_content(const std::vector<std::string>& lines) {
  const auto first =
      std::ranges::find_if(lines, [](const std::string& line) { return !text::is_blank(line); });
  if (first == lines.end()) return Format::tsv;
  if (text::trim(*first).starts_with('{')) return Format::jsonl;
  return first->find('\t') == std::string::npos ? Format::csv : Format::tsv;
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
  const bool has_name = path != text::standard_input;
  std::optional<Format> format;
  if (has_name) format = format_of(path);
  const std::string name = has_name ? path.string() : "standard input";
  const std::vector<std::string> lines = text::read_lines(path);
  if (!format) format = format_of_content(lines);
  Records records = format == Format::jsonl
                        ? parse_jsonl(lines, roles, options, name)
                        : parse_table(format == Format::tsv, lines, roles, options, name);
  check_as(ErrorKind::data, !records.records.empty(), name, ": expected records with ",
           list_names(roles), ", found none");
  return records;
}

RecordPairs read_record_pairs(const std::filesystem::path& path, const RecordOptions& options) {
  Records records = read_records(path, pair_roles(), options);
  RecordPairs pairs{.lines = {}, .columns = std::move(records.columns)};
  for (Record& record : records.records) {
    pairs.lines.source.push_back(std::move(record.values[0]));
    pairs.lines.target.push_back(std::move(record.values[1]));
  }
  return pairs;
}

}  // namespace heed::data
