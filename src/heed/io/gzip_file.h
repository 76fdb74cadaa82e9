// A file that is read from front to back, compressed by gzip or not.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct gzFile_s;

namespace heed::io {

class GzipFile {
 public:
  // Refuses (ErrorKind::data) a file that is missing or cannot be opened, and a folder where `what`
  // ("a text file") was expected.
  GzipFile(const std::string& path, std::string_view what);

  // The next bytes; fewer than there is room for only at the end of the file. Refuses
  // (ErrorKind::data) what cannot be read, and compressed data that is damaged or cut short.
  std::size_t read(std::span<char> bytes);

 private:
  struct Close {
    void operator()(gzFile_s* file) const;
  };

  std::string path_;
  std::unique_ptr<gzFile_s, Close> file_;
};

}  // namespace heed::io
