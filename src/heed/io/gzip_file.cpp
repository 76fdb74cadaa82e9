#include "heed/io/gzip_file.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "heed/base/error.h"
#include "heed/io/files.h"

namespace heed::io {

void GzipFile::Close::operator()(gzFile_s* file) const { gzclose(file); }

GzipFile::GzipFile(const std::string& path, std::string_view what) : path_(path) {
  check_as(ErrorKind::data, !is_folder(path), path, ": expected ", what, ", found a directory");
  // zlib passes a file that is not compressed through as it is.
  errno = 0;
  file_.reset(gzopen(path.c_str(), "rb"));
  check_as(ErrorKind::data, file_ != nullptr, path,
           ": cannot open: ", errno != 0 ? std::strerror(errno) : "out of memory");
}

std::size_t GzipFile::read(std::span<char> bytes) {
  constexpr std::size_t max_count = std::numeric_limits<int>::max();  // of one gzread
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto room = static_cast<unsigned>(std::min(bytes.size() - done, max_count));
    const int count = gzread(file_.get(), bytes.data() + done, room);
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  // A compressed file that ends too early gives no negative count, only this error.
  int error = Z_OK;
  gzerror(file_.get(), &error);
  check_as(ErrorKind::data, error == Z_OK || error == Z_STREAM_END, path_, ": cannot read: ",
           error == Z_ERRNO ? std::strerror(errno) : "the compressed data is damaged or cut short");
  return done;
}

}  // namespace heed::io
