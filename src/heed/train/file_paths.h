// The files that a run reads, by their role.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace heed::train {

// One path or several, which are read in order as one text.
struct PathList : std::vector<std::string> {
  using std::vector<std::string>::vector;
  PathList(std::string path) : std::vector<std::string>{std::move(path)} {}  // NOLINT: one path
  PathList(const char* path) : PathList(std::string(path)) {}                // NOLINT: one path
};

// Paths by role: source, target, valid-source ... "-" is standard input.
using FilePaths = std::map<std::string, PathList>;

}  // namespace heed::train
