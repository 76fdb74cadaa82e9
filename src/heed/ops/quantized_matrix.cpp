#include "heed/ops/quantized_matrix.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <span>

#include "heed/base/error.h"
#include "heed/base/half.h"
#include "heed/base/parallel.h"

namespace heed::ops {
namespace {

constexpr Index rows_per_piece = 64;

// Where no weight is larger than this, all become 0: the inverse of their step could be infinite.
constexpr float negligible = 1e-30f;

float largest_size(std::span<const float> row) {
  float largest = 0;
  for (const float x : row) largest = std::max(largest, std::abs(x));
  return largest;
}

void to_halves(std::uint8_t* to, std::span<const float> row, std::uint16_t (*convert)(float)) {
  for (const float x : row) {
    const std::uint16_t half = convert(x);
    std::memcpy(to, &half, sizeof(half));
    to += sizeof(half);
  }
}

// Integers in [-127, 127]; the largest weight of the row becomes one of the ends.
float to_int8(std::uint8_t* to, std::span<const float> row) {
  const float largest = largest_size(row);
  const float scale = largest > negligible ? largest / 127 : 0;
  const float inverse = scale > 0 ? 1 / scale : 0;
  for (const float x : row) {
    const float steps = std::clamp(std::round(x * inverse), -127.0f, 127.0f);
    *to++ = static_cast<std::uint8_t>(static_cast<std::int8_t>(steps));
  }
  return scale;
}

constexpr std::size_t group_size = kernels::int4_group;

// int4 values of one group, and how well they fit.
struct Group {
  int numbers[group_size];
  float scale = 0;  // the best one for these numbers, in least squares
  float gain = 0;   // the reduction of the squared error
};

// x / step to the nearest integer of the range, for a given inverse of the step.
Group round_group(std::span<const float> group, float inverse) {
  Group result;
  float products = 0, squares = 0;
  for (std::size_t i = 0; i < group.size(); ++i) {
    // Positive before truncation, so that it rounds down.
    const float raised = std::clamp(group[i] * inverse + 8.5f, 0.0f, 15.5f);
    result.numbers[i] = static_cast<int>(raised) - 8;
    const auto number = static_cast<float>(result.numbers[i]);
    products += group[i] * number;
    squares += number * number;
  }
  if (squares > 0) {
    result.scale = products / squares;
    result.gain = products * result.scale;
  }
  return result;
}

// The weight of the largest magnitude becomes -8, whatever its sign, because that end of the range
// is the longer one; or a little more or less than -8, where the others then fit better.
//
// The squared error that remains, as a share of the weights of a trained translator (tables and
// layers): 0.95% and 1.07% with a range of -7 to 7, 0.74% and 0.84% with the largest at -8, 0.72%
// and 0.81% with the best scale for the same integers, 0.66% and 0.75% with the best of these ends.
// 120 ends of both signs would leave as much.
Group best_group(std::span<const float> group) {
  float largest = 0;
  for (const float x : group) {
    if (std::abs(x) > std::abs(largest)) largest = x;
  }
  Group best{};
  if (std::abs(largest) <= negligible) return best;
  for (float end = 6.5f; end <= 9; end += 0.25f) {
    const Group candidate = round_group(group, -end / largest);
    if (candidate.gain > best.gain) best = candidate;
  }
  return best;
}

void to_int4(std::uint8_t* to, float* scales, std::span<const float> row) {
  for (std::size_t begin = 0; begin < row.size(); begin += group_size) {
    const std::size_t count = std::min(group_size, row.size() - begin);
    const Group group = best_group(row.subspan(begin, count));
    *scales++ = group.scale;
    for (std::size_t i = 0; i < count; i += 2) {
      const int second = i + 1 < count ? group.numbers[i + 1] : 0;
      *to++ = static_cast<std::uint8_t>((group.numbers[i] + 8) | (second + 8) << 4);
    }
  }
}

void check_range(std::span<const float> row, WeightFormat format) {
  constexpr float half_bound = 65520;  // from here on, the nearest f16 is infinity
  for (const float x : row) {
    check(std::isfinite(x), "quantize: expected finite numbers, got ", x);
    check(format != WeightFormat::f16 || std::abs(x) < half_bound,
          "quantize: expected numbers below ", half_bound, " for f16, got ", x);
  }
}

}  // namespace

QuantizedMatrix quantize(const Tensor& weight, WeightFormat format) {
  assert(format != WeightFormat::f32);
  check(weight.rank() == 2, "quantize: expected a weight [O, I], got ", weight.shape());
  QuantizedMatrix quantized{format, weight.dim(0), weight.dim(1), {}, {}};
  const Index row_bytes = kernels::weight_row_bytes(format, quantized.cols);
  const Index row_scales = kernels::weight_row_scales(format, quantized.cols);
  quantized.values.resize(quantized.rows * row_bytes);
  quantized.scales.resize(quantized.rows * row_scales);
  parallel_ranges(quantized.rows, rows_per_piece, [&](Index begin, Index end) {
    for (Index j = begin; j < end; ++j) {
      const auto row = weight.values().subspan(j * quantized.cols, quantized.cols);
      check_range(row, format);
      std::uint8_t* to = quantized.values.data() + j * row_bytes;
      float* scales = quantized.scales.data() + j * row_scales;
      if (format == WeightFormat::f16) to_halves(to, row, float_to_float16);
      if (format == WeightFormat::bf16) to_halves(to, row, float_to_bfloat16);
      if (format == WeightFormat::int8) *scales = to_int8(to, row);
      if (format == WeightFormat::int4) to_int4(to, scales, row);
    }
  });
  return quantized;
}

}  // namespace heed::ops
