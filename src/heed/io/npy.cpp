#include "heed/io/npy.h"

#include <bit>

#include "heed/base/error.h"
#include "heed/io/files.h"

namespace heed::io {
namespace {

static_assert(std::endian::native == std::endian::little, "the file says little-endian floats");

// Magic, version and the length of the rest in two bytes; then a Python dictionary. The whole is a
// multiple of 64 bytes, so that the numbers are aligned in memory.
std::string header(std::size_t rows, std::size_t cols) {
  std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (" +
                           std::to_string(rows) + ", " + std::to_string(cols) + "), }";
  std::string begin("\x93NUMPY\x01\x00", 8);
  while ((begin.size() + 2 + dictionary.size() + 1) % 64 != 0) dictionary += ' ';
  dictionary += '\n';
  begin += static_cast<char>(dictionary.size() & 0xff);
  begin += static_cast<char>(dictionary.size() >> 8);
  return begin + dictionary;
}

}  // namespace

void write_npy(const std::string& path, std::span<const float> values, std::size_t rows,
               std::size_t cols) {
  check(values.size() == rows * cols, "npy: expected ", rows, " x ", cols, " values, got ",
        values.size());
  AtomicFile file(path);
  file.write(header(rows, cols));
  file.write(std::as_bytes(values));
  file.commit();
}

}  // namespace heed::io
