#include "heed/ops/positions.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/embedding.h"
#include "heed/ops/rotary_periods.h"

namespace heed::ops {
namespace {

constexpr Index grain = 256;  // rows of one piece

// RoPE: rotates each pair (a, b) of a head by its angle: (a cos - b sin, a sin + b cos). direction
// -1 rotates by the opposite angle.
Tensor rotate_pairs(const Tensor& x, const RotaryTable& table, const std::vector<Index>& positions,
                    const RotaryOptions& options, Index rotary_dim, float direction) {
  const Index rows = x.dim(0), cols = x.dim(1), width = cols / options.num_heads;
  const Index half = rotary_dim / 2;
  const bool halves = options.pairs == RotaryPairs::halves;
  const Index step = halves ? 1 : 2, distance = halves ? half : 1;
  Tensor y = x.clone();
  parallel_ranges(rows, grain, [&, from = x.data(), to = y.data()](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      const float* cos = table.cos.data() + positions[row] * half;
      const float* sin = table.sin.data() + positions[row] * half;
      for (Index head = 0; head < options.num_heads; ++head) {
        const Index at = row * cols + head * width;
        for (Index i = 0; i < half; ++i) {
          const float a = from[at + i * step], b = from[at + i * step + distance];
          to[at + i * step] = a * cos[i] - direction * b * sin[i];
          to[at + i * step + distance] = direction * a * sin[i] + b * cos[i];
        }
      }
    }
  });
  return y;
}

void check_frequencies(const RotaryFrequencies& frequencies) {
  check(frequencies.dim % 2 == 0, "rotary: expected an even width, got ", frequencies.dim);
  const bool is_divided = frequencies.scaling == RotaryScaling::longrope;
  check(!is_divided || std::ssize(frequencies.divisors) == frequencies.dim / 2, "rotary: expected ",
        frequencies.dim / 2, " divisors of frequencies, got ", frequencies.divisors.size());
  const bool is_by_length =
      frequencies.scaling == RotaryScaling::llama3 || frequencies.scaling == RotaryScaling::yarn;
  check(!is_by_length || frequencies.original_positions > 0,
        "rotary: expected the original positions, got ", frequencies.original_positions);
}

// 1 / frequency of pair i before scaling.
double unscaled_period(const RotaryFrequencies& frequencies, Index i) {
  const double power = 2.0 * static_cast<double>(i) / static_cast<double>(frequencies.dim);
  return std::pow(frequencies.base, power);
}

// The pair, as a fraction, whose wave fits so often into the original positions.
double pair_of_turns(const RotaryFrequencies& frequencies, double turns) {
  const auto positions = static_cast<double>(frequencies.original_positions);
  return static_cast<double>(frequencies.dim) *
         std::log(positions / (turns * 2 * std::numbers::pi)) / (2 * std::log(frequencies.base));
}

// The share of pair i's frequency that stays, from 0 to 1; the rest is divided by the factor.
double kept_share(const RotaryFrequencies& frequencies, Index i) {
  if (frequencies.scaling == RotaryScaling::llama3) {
    const double wavelength = 2 * std::numbers::pi * unscaled_period(frequencies, i);
    const double turns = static_cast<double>(frequencies.original_positions) / wavelength;
    const double low = frequencies.low_frequency_factor, high = frequencies.high_frequency_factor;
    return std::clamp((turns - low) / (high - low), 0.0, 1.0);
  }
  double first = pair_of_turns(frequencies, frequencies.beta_fast);
  double last = pair_of_turns(frequencies, frequencies.beta_slow);
  if (frequencies.has_whole_ramp) first = std::floor(first), last = std::ceil(last);
  first = std::max(first, 0.0);
  last = std::min(last, static_cast<double>(frequencies.dim - 1));
  if (first == last) last += 0.001;  // as the paper's own code does
  return 1 - std::clamp((static_cast<double>(i) - first) / (last - first), 0.0, 1.0);
}

double scaled_period(const RotaryFrequencies& frequencies, Index i) {
  const double period = unscaled_period(frequencies, i);
  switch (frequencies.scaling) {
    case RotaryScaling::none:
      return period;
    case RotaryScaling::linear:
      return period * frequencies.factor;
    case RotaryScaling::longrope:
      return period * frequencies.divisors[i];
    case RotaryScaling::llama3:
    case RotaryScaling::yarn: {
      const double kept = kept_share(frequencies, i);
      return period / (kept + (1 - kept) / frequencies.factor);
    }
  }
  return period;  // not reached: the enum has no other value
}

double default_attention_factor(const RotaryFrequencies& frequencies) {
  const bool is_yarn = frequencies.scaling == RotaryScaling::yarn && frequencies.factor > 1;
  return is_yarn ? 0.1 * std::log(frequencies.factor) + 1 : 1;
}

// Exponents from 0 to 1, both included: i / (half - 1).
Tensor whole_halves_table(Index length, Index dim) {
  Tensor table = Tensor::zeros({length, dim});
  const Index half = dim / 2;
  const auto last = static_cast<double>(std::max<Index>(half - 1, 1));
  for (Index i = 0; i < half; ++i) {
    const double period = std::pow(10000.0, static_cast<double>(i) / last);
    for (Index position = 0; position < length; ++position) {
      const double angle = static_cast<double>(position) / period;
      float* row = table.data() + position * dim;
      row[i] = static_cast<float>(std::sin(angle));
      row[half + i] = static_cast<float>(std::cos(angle));
    }
  }
  return table;
}

}  // namespace

Tensor sinusoidal_table(Index length, Index dim, SinusoidOrder order) {
  if (order == SinusoidOrder::whole_halves) return whole_halves_table(length, dim);
  Tensor table = Tensor::empty({length, dim});
  const bool halves = order == SinusoidOrder::halves;
  const Index num_sines = (dim + 1) / 2;
  for (Index position = 0; position < length; ++position) {
    for (Index i = 0; i < dim; ++i) {
      const bool is_sine = halves ? i < num_sines : i % 2 == 0;
      const Index pair = halves ? i % num_sines : i / 2;
      const double power = 2.0 * static_cast<double>(pair) / static_cast<double>(dim);
      const double angle = static_cast<double>(position) / std::pow(10000.0, power);
      table.data()[position * dim + i] =
          static_cast<float>(is_sine ? std::sin(angle) : std::cos(angle));
    }
  }
  return table;
}

std::vector<Index> token_positions(const Spans& spans, std::span<const Index> first_positions) {
  check(first_positions.empty() || std::ssize(first_positions) == spans.count(),
        "positions: expected ", spans.count(), " first positions, got ", first_positions.size());
  std::vector<Index> positions(spans.end_row(), 0);
  for (Index sequence = 0; sequence < spans.count(); ++sequence) {
    const Index first = first_positions.empty() ? 0 : first_positions[sequence];
    for (Index i = 0; i < spans[sequence].length; ++i) {
      positions[spans[sequence].begin + i] = first + i;
    }
  }
  return positions;
}

Tensor add_positions(const Packed& x, const Tensor& table, std::span<const Index> first_positions) {
  const std::vector<Index> positions = token_positions(x.spans, first_positions);
  check(std::ssize(positions) == x.values.dim(0), "positions: the sequences cover ",
        positions.size(), " of ", x.values.dim(0), " rows");
  for (const Index position : positions) {
    check(position < table.dim(0), "positions: no position ", position, " in a table of ",
          table.dim(0), ": the sequence is too long for this model");
  }
  return add(x.values, gather_rows(table, positions));
}

std::vector<double> rotary_periods(const RotaryFrequencies& frequencies) {
  std::vector<double> periods;
  for (Index i = 0; i < frequencies.dim / 2; ++i) periods.push_back(scaled_period(frequencies, i));
  return periods;
}

RotaryTable rotary_table(Index length, const RotaryFrequencies& frequencies) {
  check_frequencies(frequencies);
  const std::vector<double> periods = rotary_periods(frequencies);
  const double factor =
      frequencies.attention_factor.value_or(default_attention_factor(frequencies));
  const Index half = std::ssize(periods);
  RotaryTable table{Tensor::empty({length, half}), Tensor::empty({length, half})};
  for (Index position = 0; position < length; ++position) {
    for (Index i = 0; i < half; ++i) {
      const double angle = static_cast<double>(position) / periods[i];
      table.cos.data()[position * half + i] = static_cast<float>(factor * std::cos(angle));
      table.sin.data()[position * half + i] = static_cast<float>(factor * std::sin(angle));
    }
  }
  return table;
}

RotaryTable rotary_table(Index length, Index rotary_dim, float base) {
  return rotary_table(length, {.dim = rotary_dim, .base = static_cast<double>(base)});
}

Tensor rotary(const Tensor& x, const RotaryTable& table, std::span<const Index> positions,
              const RotaryOptions& options) {
  check(x.rank() == 2 && options.num_heads > 0 && x.dim(1) % options.num_heads == 0,
        "rotary: expected rows of ", options.num_heads, " heads, got ", x.shape());
  const Index width = x.dim(1) / options.num_heads;
  const Index rotary_dim = options.rotary_dim == 0 ? width : options.rotary_dim;
  check(rotary_dim % 2 == 0 && rotary_dim <= width, "rotary: expected an even width up to ", width,
        ", got ", rotary_dim);
  check(table.cos.rank() == 2 && table.cos.dim(1) == rotary_dim / 2 &&
            table.sin.shape() == table.cos.shape(),
        "rotary: expected tables of ", rotary_dim / 2, " angles, got ", table.cos.shape(), " and ",
        table.sin.shape());
  check(std::ssize(positions) == x.dim(0), "rotary: expected ", x.dim(0), " positions, got ",
        positions.size());
  for (const Index position : positions) {
    check(position >= 0 && position < table.cos.dim(0), "rotary: no position ", position,
          " in a table of ", table.cos.dim(0));
  }

  const std::vector<Index> places(positions.begin(), positions.end());
  // The backward of a rotation is the rotation by the opposite angle.
  return record(rotate_pairs(x, table, places, options, rotary_dim, 1), {x},
                [table, places, options, rotary_dim](const Tensor& dy) -> Gradients {
                  return {rotate_pairs(dy, table, places, options, rotary_dim, -1)};
                });
}

std::vector<Index> buckets_by_distance(const RelativeBuckets& options) {
  const Index num_sides = options.is_bidirectional ? 2 : 1;
  const Index side_buckets = options.num_buckets / num_sides, exact = side_buckets / 2;
  check(exact > 0 && options.num_buckets % num_sides == 0 && options.max_distance > exact,
        "relative positions: expected buckets for every side and distances beyond ", exact,
        ", got ", options.num_buckets, " buckets up to ", options.max_distance);
  // In floats, so that distances between two buckets fall into the one that T5 was trained with.
  const auto first = static_cast<float>(exact);
  const float range = std::log(static_cast<float>(options.max_distance) / first);
  const auto bucket_of = [&](Index distance) {
    if (distance < exact) return distance;
    const float share = std::log(static_cast<float>(distance) / first) / range;
    const auto growing = static_cast<Index>(share * static_cast<float>(side_buckets - exact));
    return std::min(side_buckets - 1, exact + growing);
  };
  std::vector<Index> buckets;
  for (Index d = -options.max_distance; d <= options.max_distance; ++d) {
    const Index side = options.is_bidirectional && d > 0 ? side_buckets : 0;
    const Index distance = options.is_bidirectional ? std::abs(d) : std::max<Index>(-d, 0);
    buckets.push_back(side + bucket_of(distance));
  }
  return buckets;
}

std::vector<float> alibi_slopes(Index num_heads) {
  // For H a power of two: 2^(-8/H), 2^(-16/H), ...; otherwise those of the next lower power, then
  // every other one of the next higher power, as the paper's own code does.
  Index power = 1;
  while (power * 2 <= num_heads) power *= 2;
  std::vector<float> slopes;
  for (Index i = 1; i <= power; ++i) {
    slopes.push_back(
        static_cast<float>(std::exp2(-8.0 * static_cast<double>(i) / static_cast<double>(power))));
  }
  for (Index i = 1; std::ssize(slopes) < num_heads; i += 2) {
    slopes.push_back(
        static_cast<float>(std::exp2(-4.0 * static_cast<double>(i) / static_cast<double>(power))));
  }
  return slopes;
}

}  // namespace heed::ops
