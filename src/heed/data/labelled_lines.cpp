#include "heed/data/labelled_lines.h"

#include <map>
#include <set>
#include <string_view>

#include "heed/base/error.h"
#include "heed/base/printable.h"
#include "heed/data/records.h"
#include "heed/text/label.h"
#include "heed/text/lines.h"

namespace heed::data {

namespace {

void check_line(const LabelledLine& line, const std::string& where) {
  check_as(ErrorKind::data, !text::is_blank(line.label), where,
           ": expected a label, found an empty one");
  text::check_label(line.label, where, ErrorKind::data);
  check_as(ErrorKind::data, !text::is_blank(line.text), where, ": expected text after the label ",
           excerpt(line.label), ", found none");
}

}  // namespace

LabelledLines read_labelled_lines(const std::filesystem::path& path, const RecordOptions& options) {
  Records records = read_records(path, labelled_roles(), options);
  LabelledLines all{.lines = {}, .columns = std::move(records.columns)};
  for (Record& record : records.records) {
    all.lines.push_back({std::move(record.values[0]), std::move(record.values[1]),
                         static_cast<Index>(record.line)});
    check_line(all.lines.back(), path.string() + ':' + std::to_string(record.line));
  }
  return all;
}

std::vector<std::string> distinct_labels(std::span<const LabelledLine> lines) {
  std::set<std::string> labels;
  for (const LabelledLine& line : lines) labels.insert(line.label);
  return {labels.begin(), labels.end()};
}

std::vector<int> classes_of(std::span<const LabelledLine> lines,
                            std::span<const std::string> labels, const std::string& file) {
  std::map<std::string_view, int> numbers;
  for (const std::string& label : labels) numbers.emplace(label, static_cast<int>(numbers.size()));
  std::vector<int> classes;
  for (const LabelledLine& line : lines) {
    const auto entry = numbers.find(line.label);
    check_as(ErrorKind::data, entry != numbers.end(), file, ":", line.number,
             ": expected one of the ", labels.size(), " labels of the model, found ",
             excerpt(line.label));
    classes.push_back(entry->second);
  }
  return classes;
}

std::vector<std::string> texts_of(std::span<const LabelledLine> lines) {
  std::vector<std::string> texts;
  for (const LabelledLine& line : lines) texts.push_back(line.text);
  return texts;
}

}  // namespace heed::data
