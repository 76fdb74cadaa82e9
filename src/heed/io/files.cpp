#include "heed/io/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace heed::io {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view temporary_suffix = ".heed-tmp";
constexpr std::size_t buffer_bytes = 1 << 16;

std::string reason(int error) { return std::generic_category().message(error); }

// Closes on scope exit. Errors of close() do not matter here: writers have synced before.
struct Descriptor {
  int number = -1;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::string read_all(int descriptor, const std::string& path, ErrorKind kind) {
  struct stat status {};
  const int stated = ::fstat(descriptor, &status);
  check_as(kind, stated == 0, path, ": cannot be read: ", reason(errno));
  check_as(kind, !S_ISDIR(status.st_mode), path, ": expected a file, found a folder");
  // One byte more than the file says, so that the end is usually seen without growing.
  std::string bytes(static_cast<std::size_t>(status.st_size) + 1, '\0');
  for (std::size_t size = 0;;) {
    if (size == bytes.size()) bytes.resize(size + size / 2 + buffer_bytes);
    const ssize_t count = ::read(descriptor, bytes.data() + size, bytes.size() - size);
    if (count < 0 && errno == EINTR) continue;
    check_as(kind, count >= 0, path, ": cannot be read: ", reason(errno));
    size += static_cast<std::size_t>(count);
    if (count > 0) continue;
    bytes.resize(size);
    return bytes;
  }
}

// After a power cut a rename holds only if its folder was synced.
void sync_folder(const std::string& folder) {
  const Descriptor descriptor{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  check(descriptor.number >= 0, folder, ": cannot be opened: ", reason(errno));
  const int synced = ::fsync(descriptor.number);
  // Some network file systems cannot sync a folder and say EINVAL.
  check(synced == 0 || errno == EINVAL, folder, ": cannot be written: ", reason(errno));
}

bool is_abandoned(const std::string& path) {
  const Descriptor descriptor{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  // A running process holds the lock; the system releases it when the process dies.
  return descriptor.number >= 0 && ::flock(descriptor.number, LOCK_EX | LOCK_NB) == 0;
}

}  // namespace

std::string read_file(const std::string& path, ErrorKind kind) {
  const Descriptor descriptor{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  check_as(kind, descriptor.number >= 0, path, ": cannot be read: ", reason(errno));
  return read_all(descriptor.number, path, kind);
}

void write_file_atomically(const std::string& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path_, ignored);
  check(!fs::exists(status) || fs::is_regular_file(status), path_,
        ": cannot be replaced: expected a regular file");
  static std::atomic<unsigned> counter{0};
  do {  // in the same folder, because a rename cannot cross file systems
    temporary_ = path_ + '.' + std::to_string(::getpid()) + '-' + std::to_string(counter++);
    temporary_ += temporary_suffix;
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) fail_writing(errno);
  // Only for remove_abandoned_writes; where locks do not work, nothing is ever removed there.
  ::flock(descriptor_, LOCK_EX | LOCK_NB);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::unlink(temporary_.c_str());
  ::close(descriptor_);
}

void AtomicFile::write(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > buffer_bytes) flush();
  if (bytes.size() > buffer_bytes) return write_through(bytes.data(), bytes.size());
  buffer_ += bytes;
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

void AtomicFile::flush() {
  write_through(buffer_.data(), buffer_.size());
  buffer_.clear();
}

void AtomicFile::write_through(const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t count = ::write(descriptor_, bytes, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail_writing(count < 0 ? errno : ENOSPC);
    bytes += count;
    size -= static_cast<std::size_t>(count);
  }
}

void AtomicFile::commit() {
  flush();
  // A failed fsync is final: the system may have dropped the bytes, so a second try proves nothing.
  if (::fsync(descriptor_) != 0) fail_writing(errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_writing(errno);
  ::close(std::exchange(descriptor_, -1));
  sync_folder(folder_of(path_));
}

void AtomicFile::fail_writing(int error) const {
  fail(ErrorKind::failed, path_, ": cannot be written: ", reason(error));
}

void rename_file(const std::string& from, const std::string& to) {
  const int renamed = ::rename(from.c_str(), to.c_str());
  check(renamed == 0, from, ": cannot be renamed to ", to, ": ", reason(errno));
  sync_folder(folder_of(to));
}

void remove_abandoned_writes(const std::string& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string path = entry.path().string();
    if (path.ends_with(temporary_suffix) && is_abandoned(path)) ::unlink(path.c_str());
  }
}

void create_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  check(!error && is_folder(path), path,
        ": cannot make this folder: ", error ? error.message() : "there is a file of this name");
}

bool is_file(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

void require_folder(const std::string& path, std::string_view what, ErrorKind kind) {
  std::error_code ignored;
  check_as(kind, fs::exists(path, ignored), path, ": expected ", what, ", found nothing");
  check_as(kind, is_folder(path), path, ": expected ", what, ", found a file");
}

}  // namespace heed::io
