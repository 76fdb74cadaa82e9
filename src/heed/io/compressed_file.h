// A file that is read from front to back, compressed by gzip or zstd, or not.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace heed::io {

class CompressedFile {
 public:
  // "-" is standard input. Refuses (ErrorKind::data) a file that is missing or cannot be opened,
  // and a folder where `what`
  // ("a text file") was expected.
  CompressedFile(const std::string& path, std::string_view what);
  ~CompressedFile();

  // The next bytes; fewer than there is room for only at the end of the file. Refuses
  // (ErrorKind::data) what cannot be read, compressed data that is damaged, cut short or needs a
  // window of more than 128 MiB, and bytes after the compressed data that are not compressed
  // themselves.
  std::size_t read(std::span<char> bytes);

 private:
  class Source;
  class Decoder;
  class GzipDecoder;
  class ZstdDecoder;

  std::size_t read_compressed(std::span<char> bytes);  // 0: the end

  std::unique_ptr<Source> source_;
  std::unique_ptr<Decoder> decoder_;  // null: the file is not compressed
  bool is_between_frames_ = false;
};

}  // namespace heed::io
