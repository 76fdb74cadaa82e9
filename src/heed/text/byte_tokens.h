// The pieces <0x00> to <0xFF>, which unknown characters fall back to.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "heed/text/vocabulary.h"

namespace heed::text {

class ByteTokens {
 public:
  ByteTokens() { ids_.fill(none); }
  explicit ByteTokens(const Vocabulary& vocabulary);

  // Is there a piece for each byte of the text?
  bool has_all(std::string_view text) const;
  int id(char byte) const { return ids_[static_cast<unsigned char>(byte)]; }

 private:
  static constexpr int none = -1;
  std::array<int, 256> ids_{};
};

// The byte of a piece <0x0A>; hexadecimal digits may be small.
std::optional<char> byte_of_token(std::string_view token);

}  // namespace heed::text
