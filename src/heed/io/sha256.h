// SHA-256 (FIPS 180-4) of bytes that arrive in pieces.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace heed::io {

class Sha256 {
 public:
  void update(std::span<const std::byte> bytes);
  void update(std::string_view text);

  // 64 lower-case hexadecimal digits of everything so far; more may follow.
  std::string hex_digest() const;

 private:
  void finish();

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, 64> block_{};
  std::uint64_t num_bytes_ = 0;  // the last num_bytes_ % 64 of them wait in block_
};

}  // namespace heed::io
