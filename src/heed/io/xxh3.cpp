#include "heed/io/xxh3.h"

#define XXH_INLINE_ALL  // the header alone, so that nobody has to link with the library
#include <xxhash.h>

#include <bit>

namespace heed::io {

static_assert(std::endian::native == std::endian::little, "numbers are hashed as they are");

struct Xxh3::State {
  XXH3_state_t xxh3;
};

Xxh3::Xxh3() : state_(std::make_unique<State>()) { XXH3_128bits_reset(&state_->xxh3); }

Xxh3::~Xxh3() = default;

void Xxh3::update(std::span<const std::byte> bytes) {
  XXH3_128bits_update(&state_->xxh3, bytes.data(), bytes.size());
}

void Xxh3::update(std::string_view text) {
  update(std::as_bytes(std::span(text.data(), text.size())));
}

void Xxh3::update(std::uint64_t number) { update(std::as_bytes(std::span(&number, 1))); }

std::string Xxh3::hex_digest() const {
  XXH128_canonical_t digest;
  XXH128_canonicalFromHash(&digest, XXH3_128bits_digest(&state_->xxh3));
  std::string digits;
  for (const unsigned char byte : digest.digest) {
    digits += "0123456789abcdef"[byte >> 4];
    digits += "0123456789abcdef"[byte & 15];
  }
  return digits;
}

}  // namespace heed::io
