// XXH3-128, the checksum of weights files: it finds damage, at the speed of memory. It is no proof
// against forgery; see sha256.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace heed::io {

class Xxh3 {
 public:
  Xxh3();
  ~Xxh3();
  Xxh3(const Xxh3&) = delete;
  Xxh3& operator=(const Xxh3&) = delete;

  void update(std::span<const std::byte> bytes);
  void update(std::string_view text);
  void update(std::uint64_t number);  // as 8 bytes, little-endian

  // 32 lower-case hexadecimal digits of everything so far, as the program xxhsum -H2 prints them.
  std::string hex_digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heed::io
