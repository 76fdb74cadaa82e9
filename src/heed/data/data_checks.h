// Signs that data is not what it should be: each is one sentence for a person. Linear in the size
// of the text; lines are compared by their hashes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/data/labelled_lines.h"
#include "heed/text/lines.h"

namespace heed::data {

// Pairs whose sides are equal, pairs that occur again, validation pairs that are in the training
// data too, and validation files whose sides are swapped, by their scripts. `validation` may be
// null.
std::vector<std::string> check_pairs(const text::ParallelLines& training,
                                     const text::ParallelLines* validation);

// Labels that occur once, classes that look like the numbers of a regression, lines that occur
// again, validation lines in the training data.
std::vector<std::string> check_labelled(std::span<const LabelledLine> training,
                                        std::span<const LabelledLine> validation,
                                        ProblemType problem = ProblemType::single_label);

// Lines that occur again, validation lines in the training data.
std::vector<std::string> check_lines(std::span<const std::string> training,
                                     std::span<const std::string> validation);

// Are most labels different and the texts few, as when label and text are mistaken for each other?
bool are_columns_swapped(std::span<const LabelledLine> lines);

}  // namespace heed::data
