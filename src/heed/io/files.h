// Whole files: read at once, written so that a reader sees the old one or the new one, nothing
// else.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"

namespace heed::io {

// Everything in a regular file of at most `max_bytes`. `kind` says whose mistake another one is;
// see FileReader.
std::string read_file(const std::string& path, ErrorKind kind = ErrorKind::data,
                      std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max());

// Replaces the file in one step: on Error (no space, no permission) the old file is untouched and
// nothing is left beside it. The new one has the old one's permissions and owner, as far as the
// system allows; a symbolic link stays, and the file that it points to is replaced.
void write_file_atomically(const std::string& path, std::string_view bytes);

// The same for files that are too large to build in memory. Without commit() nothing happens. What
// killed processes left in the same folder is removed first.
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
  void open_temporary(mode_t mode);
  void flush();
  void write_through(const char* bytes, std::size_t size);
  [[noreturn]] void fail_writing(int error) const;

  std::string path_;
  std::string target_;  // path_, or what it links to
  std::string temporary_;
  std::string buffer_;
  int descriptor_ = -1;
};

// Gives a file another name in its folder, and makes that durable. Replaces a file of that name.
void rename_file(const std::string& from, const std::string& to);

// Makes new names in the folder durable: after a power cut a file or a folder is there only if the
// folder that it is in was synced.
void sync_folder(const std::string& folder);

// Removes the temporary files of killed processes from the folder; files being written stay.
void remove_abandoned_writes(const std::string& folder);

// Makes the folder and its parents where they are missing, durably, or none of them. Returns those
// that it made, outermost first.
std::vector<std::string> create_folder(const std::string& path);

// What is at a path. They throw when the system cannot say (no permission, a broken disk): who
// takes a file that cannot be seen for one that is not there may write over it.
bool is_there(const std::string& path, ErrorKind kind = ErrorKind::failed);  // also a broken link
bool is_file(const std::string& path, ErrorKind kind = ErrorKind::failed);
bool is_folder(const std::string& path, ErrorKind kind = ErrorKind::failed);

// require_folder(model, "a model folder", ErrorKind::model) throws "DIR: expected a model folder,
// found nothing", "..., found a file" or "..., found none: " and the system's reason.
void require_folder(const std::string& path, std::string_view what, ErrorKind kind);

}  // namespace heed::io
