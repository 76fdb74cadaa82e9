// Lines of text, or pairs of texts, each with its label: a class, several labels, or a number.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/index.h"
#include "heed/base/problem_type.h"
#include "heed/data/record_columns.h"

namespace heed::data {

struct LabelledLine {
  std::string label;
  std::string text;
  Index number = 0;         // of the line in its file, from 1
  std::string second = {};  // the second text of a pair
};

struct LabelledLines {
  std::vector<LabelledLine> lines;
  std::string columns;  // as in Records
  bool has_pairs = false;
};

// The label and the text, or both texts, of a .tsv, .csv or .jsonl file; see read_records. Refuses
// (ErrorKind::data) a file that is not so, an empty label of a single-label problem, one with line
// ends or other control characters (see text::check_label), and an empty text, by file and line.
LabelledLines read_labelled_lines(const std::filesystem::path& path,
                                  const RecordOptions& options = {},
                                  ProblemType problem = ProblemType::single_label,
                                  TextPairs pairs = TextPairs::never);

// "red|blue" -> {"red", "blue"}, without the spaces around them; nothing for a blank field.
std::vector<std::string> split_labels(std::string_view field);

// What the lines' labels stand for: one of the lists has an entry for each line.
struct Targets {
  std::vector<int> classes;                  // single label: its number
  std::vector<std::vector<int>> label_sets;  // several labels: their numbers, ascending
  std::vector<double> numbers;               // regression
};

// The label of a regression is the name of its number.
inline constexpr const char* score_label = "score";

// Every label once, in the order of the alphabet; of a regression score_label.
std::vector<std::string> distinct_labels(std::span<const LabelledLine> lines,
                                         ProblemType problem = ProblemType::single_label);

// Refuses (ErrorKind::data) a line with another label than `labels`, or one that is no number, by
// its number and `file`.
Targets targets_of(std::span<const LabelledLine> lines, std::span<const std::string> labels,
                   const std::string& file, ProblemType problem);
// Those of a single-label problem.
std::vector<int> classes_of(std::span<const LabelledLine> lines,
                            std::span<const std::string> labels, const std::string& file);

// The number that a label is, finite and of reasonable size; nothing for other labels.
std::optional<double> label_number(std::string_view label);

std::vector<std::string> texts_of(std::span<const LabelledLine> lines);
std::vector<std::string> second_texts_of(std::span<const LabelledLine> lines);

}  // namespace heed::data
