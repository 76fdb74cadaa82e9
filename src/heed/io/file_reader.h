// A regular file, read from front to back.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "heed/base/error.h"
#include "heed/io/descriptor.h"
#include "heed/io/mapped_file.h"

namespace heed::io {

class FileReader {
 public:
  // Refuses (`kind`) what is missing or cannot be opened, and folders, pipes and devices, at once:
  // it never waits for the other end of a pipe.
  FileReader(std::string path, ErrorKind kind);

  std::uint64_t size() const { return size_; }  // when it was opened

  // The next `count` bytes; refuses a file that ends before them.
  std::string read(std::uint64_t count);
  // The next `count` bytes without a copy. Nothing where they cannot be mapped but may be read.
  std::optional<MappedFile> map(std::uint64_t count);
  void skip(std::uint64_t count);  // does not read; bytes beyond the end are missed by what does
  // All that is left, though the file may have grown; refuses more than `max_bytes`, for a file of
  // such a size before it takes memory.
  std::string read_rest(std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max());

 private:
  std::size_t read_some(char* to, std::size_t count);  // 0: the end
  void resize(std::string& bytes, std::uint64_t size) const;
  [[noreturn]] void fail_reading(int error) const;

  std::string path_;
  ErrorKind kind_;
  Descriptor descriptor_;
  std::uint64_t size_ = 0;
};

}  // namespace heed::io
