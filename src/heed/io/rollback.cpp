#include "heed/io/rollback.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "heed/io/files.h"

namespace heed::io {

Rollback::Folder Rollback::open_folder(const std::string& path) {
  return {path, Descriptor(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC))};
}

Rollback::~Rollback() {
  for (const File& file : files_) {
    if (file.folder.descriptor.is_at(file.folder.path)) {
      ::unlinkat(file.folder.descriptor.number(), file.name.c_str(), 0);
    }
  }
  for (auto folder = folders_.rbegin(); folder != folders_.rend(); ++folder) {
    if (folder->descriptor.is_at(folder->path)) ::rmdir(folder->path.c_str());
  }
}

void Rollback::create_folder(const std::string& path) {
  for (const std::string& made : io::create_folder(path)) folders_.push_back(open_folder(made));
}

void Rollback::add_file(const std::string& path) {
  struct stat before {};
  if (::lstat(path.c_str(), &before) == 0 || errno != ENOENT) return;  // it is, or may be, there
  const std::filesystem::path parts(path);
  const std::string folder = parts.parent_path().string();
  files_.push_back({parts.filename().string(), open_folder(folder.empty() ? "." : folder)});
}

void Rollback::keep() {
  files_.clear();
  folders_.clear();
}

}  // namespace heed::io
