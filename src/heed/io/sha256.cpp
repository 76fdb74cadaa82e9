#include "heed/io/sha256.h"

#include <algorithm>
#include <bit>

namespace heed::io {
namespace {

using State = std::array<std::uint32_t, 8>;

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, 64> round_constants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t big_endian_word(const std::byte* bytes) {
  std::uint32_t word = 0;
  for (int i = 0; i < 4; ++i) word = word << 8 | std::to_integer<std::uint32_t>(bytes[i]);
  return word;
}

std::array<std::uint32_t, 64> message_schedule(const std::byte* block) {
  std::array<std::uint32_t, 64> w;
  for (std::size_t i = 0; i < 16; ++i) w[i] = big_endian_word(block + 4 * i);
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t near = w[i - 2], far = w[i - 15];
    const std::uint32_t sigma0 = std::rotr(far, 7) ^ std::rotr(far, 18) ^ (far >> 3);
    const std::uint32_t sigma1 = std::rotr(near, 17) ^ std::rotr(near, 19) ^ (near >> 10);
    w[i] = w[i - 16] + sigma0 + w[i - 7] + sigma1;
  }
  return w;
}

// One block of 64 bytes (FIPS 180-4, section 6.2.2).
void compress(State& state, const std::byte* block) {
  const auto w = message_schedule(block);
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t choose = (e & f) ^ (~e & g);
    const std::uint32_t t1 = h + sum1 + choose + round_constants[i] + w[i];
    const std::uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
    h = g, g = f, f = e, e = d + t1;
    d = c, c = b, b = a, a = t1 + sum0 + majority;
  }
  const State mixed{a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) state[i] += mixed[i];
}

}  // namespace

void Sha256::update(std::span<const std::byte> bytes) {
  const std::size_t waiting = num_bytes_ % 64;
  num_bytes_ += bytes.size();
  if (waiting > 0) {
    const std::size_t taken = std::min(bytes.size(), 64 - waiting);
    std::copy_n(bytes.begin(), taken, block_.begin() + waiting);
    bytes = bytes.subspan(taken);
    if (waiting + taken < 64) return;
    compress(state_, block_.data());
  }
  for (; bytes.size() >= 64; bytes = bytes.subspan(64)) compress(state_, bytes.data());
  std::copy(bytes.begin(), bytes.end(), block_.begin());
}

void Sha256::update(std::string_view text) {
  update(std::as_bytes(std::span(text.data(), text.size())));
}

// Appends one set bit, zeros, and the length in bits, up to the end of a block.
void Sha256::finish() {
  const std::uint64_t num_bits = num_bytes_ * 8;
  std::array<std::byte, 72> padding{std::byte{0x80}};
  const std::size_t num_zeros = (64 + 55 - num_bytes_ % 64) % 64;
  for (std::size_t i = 0; i < 8; ++i) {
    padding[1 + num_zeros + i] = static_cast<std::byte>(num_bits >> (56 - 8 * i));
  }
  update(std::span(padding).first(1 + num_zeros + 8));
}

std::string Sha256::hex_digest() const {
  Sha256 copy = *this;
  copy.finish();
  std::string digits;
  for (const std::uint32_t word : copy.state_) {
    for (int shift = 28; shift >= 0; shift -= 4) digits += "0123456789abcdef"[word >> shift & 15];
  }
  return digits;
}

}  // namespace heed::io
