// The files that a run reads, by their role.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/io/sha256.h"
#include "heed/text/lines.h"
#include "heed/train/file_paths.h"

namespace heed::train {

// Where the files of a run are, and a hash of their contents.
struct TrainingFiles {
  FilePaths paths;
  std::string sha256;
};

// A role or the name of a setting as messages write it: `valid_source` for valid-source.
std::string quote(std::string name);

// The paths of a role; none when it is not there.
PathList paths_of(const FilePaths& files, const std::string& role);
// The path of a role that has one at most; empty when there is none. Refuses (ErrorKind::usage)
// several.
std::string path_of(const FilePaths& files, const std::string& role);
// The lines of a role's files, one file after another; nothing when there is none.
std::optional<std::vector<std::string>> read_lines_of(
    const FilePaths& files, const std::string& role,
    std::size_t max_line_bytes = text::max_file_line_bytes);
// Refuses (ErrorKind::usage) standard input in more than one place.
void check_standard_input(const FilePaths& files);

// Adds lines to a hash, and how many they are, so that the end of one text and the beginning of
// the next cannot be mistaken for each other.
void hash_lines(io::Sha256& hash, std::span<const std::string> lines);

}  // namespace heed::train
