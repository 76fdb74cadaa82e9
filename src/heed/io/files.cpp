#include "heed/io/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "heed/io/descriptor.h"
#include "heed/io/file_reader.h"

namespace heed::io {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view temporary_suffix = ".heed-tmp";
constexpr std::size_t buffer_bytes = 1 << 16;

std::string reason(int error) { return std::generic_category().message(error); }

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// NAME.PID-N.heed-tmp: other files with this suffix are none of ours.
bool is_temporary_name(std::string_view name) {
  if (!name.ends_with(temporary_suffix)) return false;
  name.remove_suffix(temporary_suffix.size());
  const std::size_t dot = name.rfind('.');
  if (dot == name.npos) return false;
  const std::string_view number = name.substr(dot + 1);
  const std::size_t dash = number.find('-');
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  };
  return dash != number.npos && is_number(number.substr(0, dash)) &&
         is_number(number.substr(dash + 1));
}

// A running writer holds the lock; the system releases it when the process dies. Where locks do not
// work, nothing is ever removed. The lock is held until the file is gone: a writer that has made
// its file but not yet locked it waits, and then sees that it is gone.
void remove_if_abandoned(const std::string& path) {
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  if (!descriptor.is_open() || ::flock(descriptor.number(), LOCK_EX | LOCK_NB) != 0) return;
  ::unlink(path.c_str());
}

// Locks a temporary file that was just made. False: remove_abandoned_writes has removed it.
bool lock_against_removal(int descriptor) {
  while (::flock(descriptor, LOCK_EX) != 0 && errno == EINTR) {
  }
  struct stat status {};
  return ::fstat(descriptor, &status) != 0 || status.st_nlink > 0;
}

// Refuses a status that the system could not tell: what cannot be seen may still be there. Nothing
// can be at a path that is too long or goes round in circles.
fs::file_status known(fs::file_status status, const std::error_code& error, const std::string& path,
                      ErrorKind kind) {
  const bool is_nowhere =
      error == std::errc::filename_too_long || error == std::errc::too_many_symbolic_link_levels;
  check_as(kind, status.type() != fs::file_type::none || is_nowhere, path,
           ": cannot be read: ", error.message());
  return status;
}

fs::file_status status_of(const std::string& path, ErrorKind kind) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return known(status, error, path, kind);
}

// The path that a symbolic link, or a chain of them, leads to; there may be nothing there.
std::string follow_links(const std::string& path) {
  constexpr int max_links = 40;  // as many as the system follows
  fs::path target = path;
  for (int i = 0; i < max_links; ++i) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(target, error);
    if (!fs::is_symlink(known(status, error, path, ErrorKind::failed))) break;
    const fs::path next = fs::read_symlink(target, error);
    check(!error, path, ": cannot be read: ", error.message());
    target = target.parent_path() / next;  // an absolute one replaces the left side
  }
  return target.string();
}

// Gives the new file the permissions of the one that it replaces, and its owner where that is
// allowed. The owner first, because a change of owner clears some permissions.
void copy_permissions(int descriptor, const struct stat& old) {
  struct stat now {};
  ::fstat(descriptor, &now);
  const bool has_same_owner = now.st_uid == old.st_uid && now.st_gid == old.st_gid;
  // Only root may give a file away. Everybody else keeps it, as with any new file.
  [[maybe_unused]] const bool is_owner_kept =
      has_same_owner || ::fchown(descriptor, old.st_uid, old.st_gid) == 0;
  ::fchmod(descriptor, old.st_mode & 07777);
}

// The folders on the way to this one that are missing, outermost first.
std::vector<std::string> missing_folders(const std::string& path) {
  std::vector<std::string> missing;
  for (std::string folder = path; !is_folder(folder);) {
    missing.insert(missing.begin(), folder);
    const std::string outer = folder_of(folder);
    if (outer == folder) break;
    folder = outer;
  }
  return missing;
}

// False: another process was faster.
bool make_one_folder(const std::string& folder, const std::string& path) {
  if (::mkdir(folder.c_str(), 0777) == 0) return true;
  const int error = errno;
  check(error == EEXIST && is_folder(folder), path, ": cannot make this folder: ",
        error == EEXIST ? "there is a file of this name" : reason(error));
  return false;
}

}  // namespace

std::string read_file(const std::string& path, ErrorKind kind, std::uint64_t max_bytes) {
  return FileReader(path, kind).read_rest(max_bytes);
}

void write_file_atomically(const std::string& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)), target_(follow_links(path_)) {
  remove_abandoned_writes(folder_of(target_));
  struct stat old {};
  const bool exists = ::stat(target_.c_str(), &old) == 0;
  if (!exists && errno != ENOENT) fail_writing(errno);
  check(!exists || S_ISREG(old.st_mode), path_, ": cannot be replaced: expected a regular file");
  open_temporary(exists ? 0600 : 0666);
  if (exists) copy_permissions(descriptor_, old);
}

// In the same folder, because a rename cannot cross file systems.
void AtomicFile::open_temporary(mode_t mode) {
  static std::atomic<unsigned> counter{0};
  for (;;) {
    temporary_ = target_ + '.' + std::to_string(::getpid()) + '-' + std::to_string(counter++);
    temporary_ += temporary_suffix;
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor_ < 0 && errno != EEXIST) fail_writing(errno);
    if (descriptor_ < 0) continue;
    if (lock_against_removal(descriptor_)) return;
    ::close(std::exchange(descriptor_, -1));
  }
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
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail_writing(errno);
  ::close(std::exchange(descriptor_, -1));
  sync_folder(folder_of(target_));
}

void AtomicFile::fail_writing(int error) const {
  fail(ErrorKind::failed, path_, ": cannot be written: ", reason(error));
}

void rename_file(const std::string& from, const std::string& to) {
  const int renamed = ::rename(from.c_str(), to.c_str());
  check(renamed == 0, from, ": cannot be renamed to ", to, ": ", reason(errno));
  sync_folder(folder_of(to));
}

void sync_folder(const std::string& folder) {
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // A folder may be one that its user can write to but not read.
  if (!descriptor.is_open() && errno == EACCES) return;
  check(descriptor.is_open(), folder, ": cannot be opened: ", reason(errno));
  const int synced = ::fsync(descriptor.number());
  // Some network file systems cannot sync a folder and say EINVAL.
  check(synced == 0 || errno == EINVAL, folder, ": cannot be written: ", reason(errno));
}

void remove_abandoned_writes(const std::string& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (is_temporary_name(entry->path().filename().string())) {
      remove_if_abandoned(entry->path().string());
    }
  }
}

std::vector<std::string> create_folder(const std::string& path) {
  std::vector<std::string> made;
  try {
    for (const std::string& folder : missing_folders(path)) {
      if (!make_one_folder(folder, path)) continue;
      made.push_back(folder);
      sync_folder(folder);
      sync_folder(folder_of(folder));
    }
  } catch (...) {
    for (auto folder = made.rbegin(); folder != made.rend(); ++folder) ::rmdir(folder->c_str());
    throw;
  }
  return made;
}

bool is_there(const std::string& path, ErrorKind kind) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  return fs::exists(known(status, error, path, kind));
}

bool is_file(const std::string& path, ErrorKind kind) {
  return fs::is_regular_file(status_of(path, kind));
}

bool is_folder(const std::string& path, ErrorKind kind) {
  return fs::is_directory(status_of(path, kind));
}

void require_folder(const std::string& path, std::string_view what, ErrorKind kind) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  check_as(kind, status.type() != fs::file_type::not_found, path, ": expected ", what,
           ", found nothing");
  check_as(kind, status.type() != fs::file_type::none, path, ": expected ", what,
           ", found none: ", error.message());
  check_as(kind, fs::is_directory(status), path, ": expected ", what, ", found a file");
}

}  // namespace heed::io
