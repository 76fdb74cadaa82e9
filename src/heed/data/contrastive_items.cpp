#include "heed/data/contrastive_items.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "heed/base/cancellation.h"
#include "heed/base/error.h"
#include "heed/data/record_file.h"
#include "heed/io/json_fields.h"

namespace heed::data {
namespace {

using Names = std::vector<std::string>;

const FieldRole& contrastive_role() {
  static const FieldRole role{"contrastive", {"contrastive"}};
  return role;
}

const FieldRole& group_role() {
  static const FieldRole role{"group", {"group"}};
  return role;
}

// Where the parts of an item are in a row.
struct ItemColumns {
  std::size_t source = 0, target = 1;
  std::vector<std::size_t> contrastive;
  std::optional<std::size_t> group;
  bool has_header = false;
};

void find_other_columns(ItemColumns& columns, const Names& first) {
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (i == columns.source || i == columns.target) continue;
    if (!columns.has_header || is_named(contrastive_role(), first[i])) {
      columns.contrastive.push_back(i);
    } else if (is_named(group_role(), first[i])) {
      columns.group = i;
    }
  }
}

ItemColumns choose_item_columns(const std::vector<text::CsvRow>& rows, RecordOptions options,
                                const RecordFile& file) {
  const Names& first = rows.front().fields;
  const auto is_contrastive = [](const std::string& cell) {
    return is_named(contrastive_role(), cell);
  };
  if (!options.has_header && std::ranges::any_of(first, is_contrastive)) options.has_header = true;
  const Columns pair = choose_columns(
      rows, pair_roles(), options,
      {.file = file.name, .separator = file.format == RecordFormat::tsv ? "tab" : "comma"});
  ItemColumns columns{.source = pair.of_role[0],
                      .target = pair.of_role[1],
                      .contrastive = {},
                      .group = {},
                      .has_header = pair.has_header};
  find_other_columns(columns, first);
  check_as(ErrorKind::data, !columns.contrastive.empty(), file.place(rows.front().line),
           columns.has_header
               ? "expected a column 'contrastive', found none"
               : "expected a third column with a wrong translation, found 2 columns");
  return columns;
}

ContrastiveItem item_of(text::CsvRow& row, const ItemColumns& columns) {
  const auto take = [&](std::size_t column) {
    return column < row.fields.size() ? std::move(row.fields[column]) : std::string();
  };
  ContrastiveItem item{.line = row.line,
                       .source = take(columns.source),
                       .target = take(columns.target),
                       .contrastive = {},
                       .group = columns.group ? take(*columns.group) : std::string()};
  for (const std::size_t column : columns.contrastive) {
    std::string wrong = take(column);
    if (!wrong.empty()) item.contrastive.push_back(std::move(wrong));
  }
  return item;
}

std::vector<ContrastiveItem> parse_table(const RecordFile& file, const RecordOptions& options) {
  std::vector<text::CsvRow> rows = file.rows();
  std::vector<ContrastiveItem> items;
  if (rows.empty()) return items;
  const ItemColumns columns = choose_item_columns(rows, options, file);
  const std::size_t width = rows.front().fields.size();
  for (std::size_t i = columns.has_header ? 1 : 0; i < rows.size(); ++i) {
    check_cancelled(i);
    check_as(ErrorKind::data, rows[i].fields.size() <= width, file.place(rows[i].line),
             "expected at most ", width, " columns, as in line ", rows.front().line, ", found ",
             rows[i].fields.size());
    items.push_back(item_of(rows[i], columns));
  }
  return items;
}

Names wrong_translations(const io::JsonFields& object) {
  Names all;
  for (const std::string& name : object.names()) {
    if (!is_named(contrastive_role(), name)) continue;
    const Names some =
        object.json()[name].is_array() ? object.texts(name) : Names{object.text(name)};
    std::ranges::copy_if(some, std::back_inserter(all),
                         [](const std::string& text) { return !text.empty(); });
  }
  return all;
}

std::vector<ContrastiveItem> parse_objects(const RecordFile& file, const RecordOptions& options) {
  std::vector<ContrastiveItem> items;
  Names pair;  // the first object says which members are source and target
  file.for_each_object([&](std::size_t line, const io::JsonFields& object) {
    if (pair.empty()) {
      const std::string where = file.name + ':' + std::to_string(line);
      pair = choose_members(object.names(), pair_roles(), options, where);
    }
    const std::string& group = group_role().name;
    items.push_back({.line = line,
                     .source = text_member(object, pair[0]),
                     .target = text_member(object, pair[1]),
                     .contrastive = wrong_translations(object),
                     .group = object.has(group) ? text_member(object, group) : std::string()});
  });
  return items;
}

}  // namespace

std::vector<ContrastiveItem> read_contrastive_items(const std::filesystem::path& path,
                                                    const RecordOptions& options) {
  const RecordFile file = RecordFile::read(path);
  std::vector<ContrastiveItem> items =
      file.has_columns() ? parse_table(file, options) : parse_objects(file, options);
  check_as(ErrorKind::data, !items.empty(), file.name,
           ": expected records with source, target and contrastive translations, found none");
  for (const ContrastiveItem& item : items) {
    check_as(ErrorKind::data, !item.contrastive.empty(), file.place(item.line),
             "expected a contrastive translation, found none");
  }
  return items;
}

}  // namespace heed::data
