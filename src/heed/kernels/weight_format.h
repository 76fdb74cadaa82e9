// Rows of weights in their number format, as files hold them.
#pragma once

#include "heed/base/index.h"
#include "heed/base/weight_format.h"

namespace heed::kernels {

constexpr Index int4_group = 32;  // numbers that share a scale

// The bytes of one row of k numbers. int4 puts two numbers into a byte, the first into the low
// half, each with 8 added to it.
constexpr Index weight_row_bytes(WeightFormat format, Index k) {
  switch (format) {
    case WeightFormat::f32:
      return 4 * k;
    case WeightFormat::f16:
    case WeightFormat::bf16:
      return 2 * k;
    case WeightFormat::int8:
      return k;
    case WeightFormat::int4:
      return (k + 1) / 2;
  }
  return 0;  // not reached: the enum has no other value
}

constexpr Index weight_row_scales(WeightFormat format, Index k) {
  if (format == WeightFormat::int8) return 1;
  if (format == WeightFormat::int4) return (k + int4_group - 1) / int4_group;
  return 0;
}

}  // namespace heed::kernels
