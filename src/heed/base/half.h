// float16 and bfloat16 as bits, to and from float. Exact one way, rounded to nearest even the
// other.
#pragma once

#include <bit>
#include <cstdint>

namespace heed {

// 1 sign, 5 exponent and 10 fraction bits. Exact, subnormals, infinities and NaN included.
inline float float16_to_float(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1fu;
  const std::uint32_t fraction = half & 0x3ffu;
  if (exponent == 0) {  // zero or subnormal: fraction x 2^-24
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }
  const std::uint32_t wide_exponent = exponent == 0x1f ? 0xffu : exponent + (127 - 15);
  return std::bit_cast<float>(sign | wide_exponent << 23 | fraction << 13);
}

// Too large becomes infinity, too small becomes zero; NaN stays NaN.
inline std::uint16_t float_to_float16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return sign | 0x7e00u;   // NaN
  if (magnitude >= 0x47800000u) return sign | 0x7c00u;  // 2^16 and more
  if (magnitude < 0x38800000u) {  // below 2^-14: count in steps of 2^-24, the adder rounds
    const float steps = std::bit_cast<float>(magnitude) + 0.5f;
    return sign | static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(steps) - 0x3f000000u);
  }
  // Rebias, drop 13 bits; half a step, less one unless the kept fraction is odd, rounds to even.
  // A carry runs into the exponent, and from 65520 on into infinity, as it should.
  const std::uint32_t odd = (magnitude >> 13) & 1u;
  const std::uint32_t rounded = magnitude - ((127u - 15u) << 23) + 0xfffu + odd;
  return sign | static_cast<std::uint16_t>(rounded >> 13);
}

// bfloat16 is the upper half of a float.
inline float bfloat16_to_float(std::uint16_t half) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
}

inline std::uint16_t float_to_bfloat16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  if (is_nan) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);  // stays NaN, made quiet
  const std::uint32_t odd = (bits >> 16) & 1u;
  return static_cast<std::uint16_t>((bits + 0x7fffu + odd) >> 16);
}

}  // namespace heed
