// Text compressed as the program zstd does it.
#pragma once

#include <zstd.h>

#include <string>
#include <string_view>

namespace heed {

inline std::string zstd(std::string_view text) {
  std::string bytes(ZSTD_compressBound(text.size()), '\0');
  bytes.resize(ZSTD_compress(bytes.data(), bytes.size(), text.data(), text.size(), /*level=*/3));
  return bytes;
}

}  // namespace heed
