// Positional encodings: sinusoidal and learned tables, RoPE, ALiBi slopes.
#pragma once

#include <vector>

#include "heed/core/spans.h"

namespace heed::ops {

// The table of "Attention is all you need", section 3.5: [length, D], sine in the even columns and
// cosine in the odd ones, of position / 10000^(2i / D).
Tensor sinusoidal_table(Index length, Index dim);

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

// cos and sin of position * base^(-2i / dim), each [length, dim / 2].
struct RotaryTable {
  Tensor cos, sin;
};
RotaryTable rotary_table(Index length, Index rotary_dim, float base = 10000);

// RoPE: x [N, H * K], each head's vector rotated by the angles of its position. `positions` has N
// entries.
Tensor rotary(const Tensor& x, const RotaryTable& table, std::span<const Index> positions,
              const RotaryOptions& options);

// The position of every token, N in all: 0, 1, 2 ... within each sequence, from first_positions on.
std::vector<Index> token_positions(const Spans& spans, std::span<const Index> first_positions = {});

// One slope per head (Press, Smith and Lewis 2022): a geometric sequence that starts at 2^(-8 / H).
std::vector<float> alibi_slopes(Index num_heads);

}  // namespace heed::ops
