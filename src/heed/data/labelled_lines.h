// Lines of text, each with the label of the class that it belongs to.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "heed/base/index.h"
#include "heed/data/record_columns.h"

namespace heed::data {

struct LabelledLine {
  std::string label;
  std::string text;
  Index number = 0;  // of the line in its file, from 1
};

struct LabelledLines {
  std::vector<LabelledLine> lines;
  std::string columns;  // as in Records
};

// The label and the text of a .tsv, .csv or .jsonl file; see read_records. Refuses
// (ErrorKind::data) a file that is not so, an empty label, one with line ends or other control
// characters (see text::check_label), and an empty text, by file and line.
LabelledLines read_labelled_lines(const std::filesystem::path& path,
                                  const RecordOptions& options = {});

// Every label once, in the order of the alphabet.
std::vector<std::string> distinct_labels(std::span<const LabelledLine> lines);

// The number of each line's label among `labels`. Refuses (ErrorKind::data) a line with another
// label, by its number and `file`.
std::vector<int> classes_of(std::span<const LabelledLine> lines,
                            std::span<const std::string> labels, const std::string& file);

std::vector<std::string> texts_of(std::span<const LabelledLine> lines);

}  // namespace heed::data
