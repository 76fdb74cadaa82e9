#include "heed/io/file_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "heed/base/cancellation.h"
#include "heed/io/require_memory.h"

namespace heed::io {
namespace {

constexpr std::size_t growth = 1 << 16;
constexpr std::size_t max_read_bytes = 1 << 24;  // in one call, so that no signal waits for long

const char* name_of_type(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  return S_ISSOCK(mode) ? "a socket" : "a device";
}

}  // namespace

FileReader::FileReader(std::string path, ErrorKind kind) : path_(std::move(path)), kind_(kind) {
  // Without O_NONBLOCK, opening a pipe waits until somebody writes to it.
  descriptor_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!descriptor_.is_open()) fail_reading(errno);
  struct stat status {};
  if (::fstat(descriptor_.number(), &status) != 0) fail_reading(errno);
  check_as(kind_, S_ISREG(status.st_mode), path_, ": expected a file, found ",
           name_of_type(status.st_mode));
  size_ = static_cast<std::uint64_t>(status.st_size);
}

std::string FileReader::read(std::uint64_t count) {
  std::string bytes;
  resize(bytes, count);
  for (std::size_t done = 0; done < bytes.size();) {
    const std::size_t more = read_some(bytes.data() + done, bytes.size() - done);
    check_as(kind_, more > 0, path_, ": expected ", count, " more bytes, found ", done);
    done += more;
  }
  return bytes;
}

std::optional<MappedFile> FileReader::map(std::uint64_t count) {
  const off_t position = ::lseek(descriptor_.number(), 0, SEEK_CUR);
  if (count == 0 || position < 0) return std::nullopt;
  const auto begin = static_cast<std::uint64_t>(position);
  if (begin > size_ || count > size_ - begin) return std::nullopt;
  Descriptor copy(::fcntl(descriptor_.number(), F_DUPFD_CLOEXEC, 0));
  auto mapped = copy.is_open() ? MappedFile::map(std::move(copy), begin, count) : std::nullopt;
  if (mapped) ::lseek(descriptor_.number(), static_cast<off_t>(begin + count), SEEK_SET);
  return mapped;
}

void FileReader::skip(std::uint64_t count) {
  const auto offset = static_cast<off_t>(count);
  check_as(kind_,
           std::in_range<off_t>(count) && ::lseek(descriptor_.number(), offset, SEEK_CUR) >= 0,
           path_, ": expected ", count, " more bytes, found none");
}

std::string FileReader::read_rest(std::uint64_t max_bytes) {
  const auto check_size = [&](std::uint64_t size) {
    check_as(kind_, size <= max_bytes, path_, ": expected a file of at most ", max_bytes,
             " bytes, found ", size);
  };
  check_size(size_);
  std::string bytes;
  resize(bytes, size_ + 1);  // so that the end is usually seen without growing
  std::size_t size = 0;
  while (const std::size_t more = read_some(bytes.data() + size, bytes.size() - size)) {
    size += more;
    check_size(size);
    if (size == bytes.size()) resize(bytes, size + size / 2 + growth);
  }
  bytes.resize(size);
  return bytes;
}

std::size_t FileReader::read_some(char* to, std::size_t count) {
  for (;;) {
    check_cancelled();
    const ssize_t done = ::read(descriptor_.number(), to, std::min(count, max_read_bytes));
    if (done >= 0) return static_cast<std::size_t>(done);
    if (errno != EINTR) fail_reading(errno);
  }
}

void FileReader::resize(std::string& bytes, std::uint64_t size) const {
  const auto what = [&] { return "a file of " + std::to_string(size_) + " bytes"; };
  require_memory(kind_, path_, what, [&] { bytes.resize(size); });
}

void FileReader::fail_reading(int error) const {
  fail(kind_, path_, ": cannot be read: ", std::generic_category().message(error));
}

}  // namespace heed::io
