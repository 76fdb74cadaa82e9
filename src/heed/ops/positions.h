// Positional encodings: sinusoidal and learned tables, RoPE, ALiBi slopes.
#pragma once

#include <compare>
#include <optional>
#include <vector>

#include "heed/core/spans.h"

namespace heed::ops {

// Sine in the even columns and cosine in the odd ones ("Attention is all you need", section 3.5),
// or all sines and then all cosines (Marian), or these with the lowest frequency 1/10000 itself
// (M2M100).
enum class SinusoidOrder { interleaved, halves, whole_halves };

// [length, D], the sines and cosines of position / 10000^(2i / D); of position /
// 10000^(i / (D/2 - 1)) with whole halves, whose odd column is 0.
Tensor sinusoidal_table(Index length, Index dim, SinusoidOrder order = SinusoidOrder::interleaved);

// x [N, D] + table[position], table [P, D], learned or not. Sequence s begins at position
// first_positions[s] (0 when empty). Refuses positions that the table does not have.
Tensor add_positions(const Packed& x, const Tensor& table,
                     std::span<const Index> first_positions = {});

enum class RotaryPairs { halves, interleaved };  // (i, i + d/2) or (2i, 2i + 1)

struct RotaryOptions {
  Index num_heads = 1;
  Index rotary_dim = 0;  // the first elements of each head, which are rotated; 0: all
  RotaryPairs pairs = RotaryPairs::halves;
};

// How the frequencies of RoPE are lowered for texts longer than those of the first training:
// all of them (linear); those of long waves only, by wavelength (llama3: Llama 3.1) or by dimension
// (yarn: Peng and others 2023); or each by a number of its own (longrope: Ding and others 2024).
enum class RotaryScaling { none, linear, llama3, yarn, longrope };

// What the angles of RoPE depend on besides the position. Pair i rotates by
// position * base^(-2i / dim), before scaling.
struct RotaryFrequencies {
  Index dim = 0;  // of each head: its first elements, which are rotated
  double base = 10000;
  RotaryScaling scaling = RotaryScaling::none;
  double factor = 1;  // linear, llama3, yarn: frequencies that are lowered are divided by it
  Index original_positions = 0;  // llama3, yarn: of the first training
  // llama3: waves that fit into the original positions more often than high_frequency_factor stay,
  // those that do less often than low_frequency_factor are lowered, the others partly.
  double low_frequency_factor = 1;
  double high_frequency_factor = 4;
  // yarn: the same, with a ramp that is linear in the number of the dimension and begins and ends
  // at whole ones.
  double beta_fast = 32;
  double beta_slow = 1;
  bool has_whole_ramp = true;
  std::vector<double> divisors = {};  // longrope: of each pair's frequency, dim / 2 in all
  // Multiplies cos and sin. Not given: 0.1 ln(factor) + 1 for yarn, otherwise 1.
  std::optional<double> attention_factor = {};

  friend auto operator<=>(const RotaryFrequencies&, const RotaryFrequencies&) = default;
};

// cos and sin of each position's angles, each [length, dim / 2].
struct RotaryTable {
  Tensor cos, sin;
};
RotaryTable rotary_table(Index length, const RotaryFrequencies& frequencies);
RotaryTable rotary_table(Index length, Index rotary_dim, float base = 10000);

// RoPE: x [N, H * K], each head's vector rotated by the angles of its position. `positions` has N
// entries.
Tensor rotary(const Tensor& x, const RotaryTable& table, std::span<const Index> positions,
              const RotaryOptions& options);

// The position of every token, N in all: 0, 1, 2 ... within each sequence, from first_positions on.
std::vector<Index> token_positions(const Spans& spans, std::span<const Index> first_positions = {});

// Distances in buckets of their own up to a quarter of the buckets (half of them if only keys
// before the query have any), then in buckets by the logarithm, up to max_distance
// (T5: Raffel and others 2020).
struct RelativeBuckets {
  Index num_buckets = 32;
  Index max_distance = 128;
  bool is_bidirectional = true;  // keys after the query have half of the buckets; otherwise none
};

// The bucket of every distance from -max_distance to max_distance, key - query. What is beyond is
// in the bucket of the end.
std::vector<Index> buckets_by_distance(const RelativeBuckets& options);

// One slope per head (Press, Smith and Lewis 2022): a geometric sequence that starts at 2^(-8 / H).
std::vector<float> alibi_slopes(Index num_heads);

}  // namespace heed::ops
