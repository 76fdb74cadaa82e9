// Comma-separated values: names with coordinates, and plain matrices.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "heed/core/tensor.h"

namespace heed::cli {

struct NamedVectors {
  std::vector<std::string> names;
  Tensor vectors;  // [names, coordinates]
};

// Both read the file at `path`, or `in` when it is "-". Fields may be quoted, blanks around them
// and blank lines are skipped. They refuse (ErrorKind::data), with file and line: a missing or
// empty file, rows of different widths, and what is not a finite number.

// A name, then coordinates. A first line that starts with `name` or `word` is a header.
NamedVectors read_named_vectors(const std::string& path, std::istream& in);

// Numbers only: [rows, columns].
Tensor read_matrix(const std::string& path, std::istream& in);

}  // namespace heed::cli
