// The files that a run reads, by their role.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/io/sha256.h"

namespace heed::train {

// Paths by role: source, target, valid-source ...
using FilePaths = std::map<std::string, std::string>;

// Where the files of a run are, and a hash of their contents.
struct TrainingFiles {
  FilePaths paths;
  std::string sha256;
};

// A role or the name of a setting as messages write it: `valid_source` for valid-source.
std::string quote(std::string name);

// The path of a role; empty when there is none.
std::string path_of(const FilePaths& files, const std::string& role);
// The lines of a role's file; nothing when there is none.
std::optional<std::vector<std::string>> read_lines_of(const FilePaths& files,
                                                      const std::string& role);

// Adds lines to a hash, and how many they are, so that the end of one text and the beginning of
// the next cannot be mistaken for each other.
void hash_lines(io::Sha256& hash, std::span<const std::string> lines);

}  // namespace heed::train
