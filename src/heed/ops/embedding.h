// Rows of a table, by number.
#pragma once

#include <span>
#include <vector>

#include "heed/core/spans.h"
#include "heed/core/tensor.h"

namespace heed::ops {

class PackedMatrix;

// table [V, D], N ids in [0, V) -> scale * table[id], [N, D].
Tensor embedding(const Tensor& table, std::span<const int> ids, float scale = 1);
// The same bits from a packed table, outside the autograd graph.
Tensor embedding(const PackedMatrix& table, std::span<const int> ids, float scale = 1);

// Rows of x in another order, with repeats: x [N, D], rows in [0, N) -> [rows, D].
Tensor gather_rows(const Tensor& x, std::span<const Index> rows);

// The same row [1, D] before the rows of every sequence: [N, D] -> [S + N, D].
Packed prepend_row(const Tensor& row, const Packed& x);

}  // namespace heed::ops
