// Part of a regular file, mapped into memory: pages come in as they are touched, and no byte is
// copied.
//
// Touching a page that the file no longer has, because somebody cut it or the disk failed, raises
// SIGBUS, which ends a program. So while files are mapped, a handler of that signal puts zeros
// where the page should be, and the mapping knows that it is damaged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "heed/io/descriptor.h"

namespace heed::io {

class MappedFile {
 public:
  // `size` bytes, more than none, from `begin` on. Nothing where the system refuses to map them.
  static std::optional<MappedFile> map(Descriptor file, std::uint64_t begin, std::uint64_t size);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

  // Whether all bytes that were read until now were the file's. False once it has become shorter.
  // Throws std::system_error when the system cannot say.
  bool is_intact() const;

  // Gives the memory of the whole pages in `part` of bytes() back to the system. Who touches them
  // again reads the file again.
  void release(std::span<const std::byte> part) const;

 private:
  MappedFile(Descriptor file, std::uint64_t end, std::size_t slot, std::span<const std::byte> pages,
             std::span<const std::byte> bytes)
      : file_(std::move(file)), end_(end), slot_(slot), pages_(pages), bytes_(bytes) {}

  Descriptor file_;
  std::uint64_t end_;                 // of the bytes in the file
  std::size_t slot_;                  // among the mappings that the signal handler knows
  std::span<const std::byte> pages_;  // empty once moved from
  std::span<const std::byte> bytes_;
};

}  // namespace heed::io
