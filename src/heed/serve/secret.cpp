#include "heed/serve/secret.h"

#include <sys/random.h>

#include <array>
#include <cstdint>
#include <span>

#include "heed/base/error.h"

namespace heed::serve {
namespace {

std::string base64url(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text;
  std::uint32_t bits = 0;
  int num_bits = 0;
  for (const std::uint8_t byte : bytes) {
    bits = bits << 8 | byte;
    for (num_bits += 8; num_bits >= 6;) {
      num_bits -= 6;
      text += letters[bits >> num_bits & 63];
    }
  }
  if (num_bits > 0) text += letters[bits << (6 - num_bits) & 63];
  return text;
}

}  // namespace

std::string make_secret() {
  std::array<std::uint8_t, 32> bytes;
  check(getentropy(bytes.data(), bytes.size()) == 0,
        "secret: expected random bytes from the system, found none");
  return base64url(bytes);
}

bool is_same_secret(std::string_view expected, std::string_view given) {
  if (expected.size() != given.size()) return false;
  // volatile: the compiler may not leave the loop at the first difference.
  volatile unsigned char difference = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference = difference | static_cast<unsigned char>(expected[i] ^ given[i]);
  }
  return difference == 0;
}

}  // namespace heed::serve
