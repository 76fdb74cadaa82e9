// heed attend: attention by hand on named vectors.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "heed/cli/command.h"
#include "heed/core/tensor.h"

namespace heed::cli {

struct AttendOptions {
  std::string words = {};  // a CSV file of names and coordinates; "-" is standard input
  std::string similarity = "scaled-dot";
  std::vector<std::string> only = {};  // the sentence, in its order; empty: all words of the file
  std::string query = {}, key = {}, value = {};  // CSV files of matrices; empty: the identity
  Index heads = 1;
  std::string output = {};  // CSV file of the matrix that mixes the heads; empty: the identity
  std::string mask = {};    // "causal", or a CSV file of 0 and 1 (1: this row sees this column)
  std::string format = "table";       // table, json or csv
  std::optional<int> precision = {};  // decimals; by default 2 in tables, otherwise all that count
};

// What attention does with N words of D coordinates.
struct Attended {
  std::vector<std::string> words;
  Tensor similarity;  // [H, N, N], before the mask
  Tensor weights;     // [H, N, N], each row sums to 1
  Tensor context;     // [N, J]: the words, moved
};

// Reads the files and attends. Refuses what does not fit, as wrong use or as bad data: so many
// words that the weights would not fit into memory, and coordinates so large that a result is not
// finite.
Attended attend_to_words(const AttendOptions& options, std::istream& in);

// The same, printed in the format that the options ask for.
int attend(const AttendOptions& options, std::istream& in, std::ostream& out);

Command attend_command();

}  // namespace heed::cli
