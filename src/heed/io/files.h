// Whole files: read at once, written so that a reader sees the old one or the new one, nothing
// else.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "heed/base/error.h"

namespace heed::io {

// Everything in the file. `kind` says whose mistake a missing or unreadable file is.
std::string read_file(const std::string& path, ErrorKind kind = ErrorKind::data);

// Replaces the file in one step: on Error (no space, no permission) the old file is untouched and
// nothing is left beside it.
void write_file_atomically(const std::string& path, std::string_view bytes);

// The same for files that are too large to build in memory. Without commit() nothing happens.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();  // removes what was not committed
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view bytes);
  // Makes the bytes durable, then puts them in the place of `path`. Once only, and last.
  void commit();

 private:
  void flush();
  void write_through(const char* bytes, std::size_t size);
  [[noreturn]] void fail_writing(int error) const;

  std::string path_;
  std::string temporary_;
  std::string buffer_;
  int descriptor_ = -1;
};

// Gives a file another name in its folder, and makes that durable. Replaces a file of that name.
void rename_file(const std::string& from, const std::string& to);

// Removes the temporary files of killed processes from the folder; files being written stay.
void remove_abandoned_writes(const std::string& folder);

// Makes the folder and its parents where they are missing.
void create_folder(const std::string& path);

bool is_file(const std::string& path);
bool is_folder(const std::string& path);

// require_folder(model, "a model folder", ErrorKind::model) throws "DIR: expected a model folder,
// found nothing" or "..., found a file".
void require_folder(const std::string& path, std::string_view what, ErrorKind kind);

}  // namespace heed::io
