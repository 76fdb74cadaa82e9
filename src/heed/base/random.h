// Random numbers that are a function of a key and a counter, never of earlier draws.
//
// A number's key says what it is for (seed, step, place), its counter says which element. So the
// same numbers come out for any number of threads, after a resume, and again in a backward pass.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace heed {

// The finaliser of SplitMix64 (Steele, Lea and Flood 2014): a bijection that mixes every bit.
constexpr std::uint64_t mix_bits(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

constexpr std::uint64_t random_bits(std::uint64_t key, std::uint64_t counter) {
  return mix_bits(key + (counter + 1) * 0x9e3779b97f4a7c15ull);
}

// A key for one use of randomness. Chained mixing keeps (1, 2, 3) and (3, 2, 1) apart.
constexpr std::uint64_t random_key(std::uint64_t seed, std::uint64_t step, std::uint64_t place) {
  return mix_bits(random_bits(random_bits(seed, step), place));
}

// A plain sequence over one key, for initial weights, shuffles and samples.
class Rng {
 public:
  explicit Rng(std::uint64_t key) : key_(key) {}

  std::uint64_t next() { return random_bits(key_, counter_++); }
  // In [0, 1), with 53 random bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  // In [0, count), without the bias of a plain remainder (Lemire's multiplication).
  std::uint64_t below(std::uint64_t count) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(next()) * count) >> 64);
  }
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

}  // namespace heed
