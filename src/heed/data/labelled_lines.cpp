#include "heed/data/labelled_lines.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "heed/base/error.h"
#include "heed/base/printable.h"
#include "heed/data/records.h"
#include "heed/text/label.h"
#include "heed/text/lines.h"

namespace heed::data {

namespace {

// Beyond it, floats have no digits behind the point for a long time.
constexpr double max_label_number = 1e15;

// The labels of a line, in the order in which it has them.
std::vector<std::string> labels_of(const LabelledLine& line, ProblemType problem) {
  return problem == ProblemType::multi_label ? split_labels(line.label)
                                             : std::vector<std::string>{line.label};
}

void check_texts(const LabelledLine& line, bool has_pairs, const std::string& where) {
  check_as(ErrorKind::data, !text::is_blank(line.text), where, ": expected text after the label ",
           excerpt(line.label), ", found none");
  check_as(ErrorKind::data, !has_pairs || !text::is_blank(line.second), where,
           ": expected a second text for the label ", excerpt(line.label), ", found none");
}

double number_of(const LabelledLine& line, const std::string& where) {
  const std::optional<double> number = label_number(line.label);
  check_as(ErrorKind::data, number.has_value(), where,
           ": expected a number for the label of a regression, found \"", excerpt(line.label), '"');
  return *number;
}

void check_labels(const LabelledLine& line, ProblemType problem, const std::string& where) {
  if (problem == ProblemType::regression) number_of(line, where);
  for (const std::string& label : labels_of(line, problem)) {
    check_as(ErrorKind::data, !text::is_blank(label), where,
             ": expected a label, found an empty one");
    text::check_label(label, where, ErrorKind::data);
  }
}

// The number of each label.
class LabelNumbers {
 public:
  explicit LabelNumbers(std::span<const std::string> labels) {
    for (const std::string& label : labels) {
      numbers_.emplace(label, static_cast<int>(numbers_.size()));
    }
  }
  int of(const std::string& label, const std::string& file, Index line) const {
    const auto entry = numbers_.find(label);
    check_as(ErrorKind::data, entry != numbers_.end(), file, ":", line, ": expected one of the ",
             numbers_.size(), " labels of the model, found ", excerpt(label));
    return entry->second;
  }

 private:
  std::map<std::string, int, std::less<>> numbers_;
};

std::vector<int> label_set_of(const LabelledLine& line, const LabelNumbers& numbers,
                              const std::string& file) {
  std::set<int> set;
  for (const std::string& label : split_labels(line.label)) {
    set.insert(numbers.of(label, file, line.number));
  }
  return {set.begin(), set.end()};
}

}  // namespace

LabelledLines read_labelled_lines(const std::filesystem::path& path, const RecordOptions& options,
                                  ProblemType problem, TextPairs pairs) {
  Records records = read_records(path, labelled_roles(problem, pairs), options);
  LabelledLines all{.lines = {},
                    .columns = std::move(records.columns),
                    .has_pairs = records.records.front().values.size() > 2};
  for (Record& record : records.records) {
    all.lines.push_back({std::move(record.values[0]), std::move(record.values[1]),
                         static_cast<Index>(record.line),
                         all.has_pairs ? std::move(record.values[2]) : std::string()});
    const std::string where = path.string() + ':' + std::to_string(record.line);
    check_labels(all.lines.back(), problem, where);
    check_texts(all.lines.back(), all.has_pairs, where);
  }
  return all;
}

std::vector<std::string> split_labels(std::string_view field) {
  std::vector<std::string> labels;
  if (text::is_blank(field)) return labels;
  for (;;) {
    const std::size_t end = field.find(list_separator);
    labels.emplace_back(text::trim(field.substr(0, end)));
    if (end == std::string_view::npos) return labels;
    field.remove_prefix(end + 1);
  }
}

std::vector<std::string> distinct_labels(std::span<const LabelledLine> lines, ProblemType problem) {
  if (problem == ProblemType::regression) return {score_label};
  std::set<std::string> labels;
  for (const LabelledLine& line : lines) {
    for (std::string& label : labels_of(line, problem)) labels.insert(std::move(label));
  }
  return {labels.begin(), labels.end()};
}

std::vector<int> classes_of(std::span<const LabelledLine> lines,
                            std::span<const std::string> labels, const std::string& file) {
  const LabelNumbers numbers(labels);
  std::vector<int> classes;
  for (const LabelledLine& line : lines) {
    classes.push_back(numbers.of(line.label, file, line.number));
  }
  return classes;
}

Targets targets_of(std::span<const LabelledLine> lines, std::span<const std::string> labels,
                   const std::string& file, ProblemType problem) {
  Targets targets;
  const LabelNumbers numbers(labels);
  switch (problem) {
    case ProblemType::single_label:
      targets.classes = classes_of(lines, labels, file);
      break;
    case ProblemType::multi_label:
      for (const LabelledLine& line : lines) {
        targets.label_sets.push_back(label_set_of(line, numbers, file));
      }
      break;
    case ProblemType::regression:
      for (const LabelledLine& line : lines) {
        targets.numbers.push_back(number_of(line, file + ':' + std::to_string(line.number)));
      }
      break;
  }
  return targets;
}

std::optional<double> label_number(std::string_view label) {
  label = text::trim(label);
  if (label.starts_with('+')) label.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), number);
  const bool is_whole = error == std::errc() && end == label.data() + label.size();
  // Written so that NaN is none.
  if (!is_whole || !(std::abs(number) <= max_label_number)) return std::nullopt;
  return number;
}

std::vector<std::string> texts_of(std::span<const LabelledLine> lines) {
  std::vector<std::string> texts;
  for (const LabelledLine& line : lines) texts.push_back(line.text);
  return texts;
}

std::vector<std::string> second_texts_of(std::span<const LabelledLine> lines) {
  std::vector<std::string> texts;
  for (const LabelledLine& line : lines) texts.push_back(line.second);
  return texts;
}

}  // namespace heed::data
