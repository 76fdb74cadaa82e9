// Number formats of weights.
#pragma once

#include <cstdint>

#include "heed/base/index.h"

namespace heed::kernels {

// f16, bf16: half floats. int8: an integer times a scale, one for each row. int4: the same with a
// scale for every int4_group numbers of a row.
enum class WeightFormat { f32, f16, bf16, int8, int4 };

constexpr Index int4_group = 32;

// One row of k numbers as files hold it. int4 puts two numbers into a byte, the first into the low
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
