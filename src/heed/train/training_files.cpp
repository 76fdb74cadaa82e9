#include "heed/train/training_files.h"

#include <algorithm>
#include <iterator>

#include "heed/base/cancellation.h"
#include "heed/base/error.h"
#include "heed/base/index.h"

namespace heed::train {

std::string quote(std::string name) {
  std::ranges::replace(name, '-', '_');
  return '`' + name + '`';
}

PathList paths_of(const FilePaths& files, const std::string& role) {
  const auto entry = files.find(role);
  return entry == files.end() ? PathList() : entry->second;
}

std::string path_of(const FilePaths& files, const std::string& role) {
  const PathList paths = paths_of(files, role);
  check_as(ErrorKind::usage, paths.size() <= 1, quote(role), ": expected one path, found ",
           paths.size());
  return paths.empty() ? std::string() : paths.front();
}

std::optional<std::vector<std::string>> read_lines_of(const FilePaths& files,
                                                      const std::string& role,
                                                      std::size_t max_line_bytes) {
  const PathList paths = paths_of(files, role);
  if (paths.empty()) return std::nullopt;
  std::vector<std::string> all;
  for (const std::string& path : paths) {
    std::vector<std::string> lines = text::read_lines(path, max_line_bytes);
    all.insert(all.end(), std::move_iterator(lines.begin()), std::move_iterator(lines.end()));
  }
  return all;
}

void check_standard_input(const FilePaths& files) {
  Index count = 0;
  for (const auto& [role, paths] : files) {
    count += std::ranges::count(paths, text::standard_input);
    check_as(ErrorKind::usage, count <= 1, quote(role),
             ": expected standard input (-) for one file, found it for several");
  }
}

void hash_lines(io::Sha256& hash, std::span<const std::string> lines) {
  hash.update(std::to_string(lines.size()) + '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) {
    check_cancelled(i);
    hash.update(lines[i] + '\n');
  }
}

}  // namespace heed::train
