#include "heed/train/training_files.h"

#include <algorithm>

#include "heed/base/cancellation.h"
#include "heed/text/lines.h"

namespace heed::train {

std::string quote(std::string name) {
  std::ranges::replace(name, '-', '_');
  return '`' + name + '`';
}

std::string path_of(const FilePaths& files, const std::string& role) {
  const auto file = files.find(role);
  return file == files.end() ? std::string() : file->second;
}

std::optional<std::vector<std::string>> read_lines_of(const FilePaths& files,
                                                      const std::string& role) {
  const std::string path = path_of(files, role);
  if (path.empty()) return std::nullopt;
  return text::read_lines(path);
}

void hash_lines(io::Sha256& hash, std::span<const std::string> lines) {
  hash.update(std::to_string(lines.size()) + '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) {
    check_cancelled(i);
    hash.update(lines[i] + '\n');
  }
}

}  // namespace heed::train
