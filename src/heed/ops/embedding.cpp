#include "heed/ops/embedding.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/kernels/elementwise.h"
#include "heed/ops/packed_matrix.h"

namespace heed::ops {
namespace {

constexpr Index grain = 256;        // rows of one piece
constexpr Index packed_grain = 16;  // a packed row lies among those of its panel: more to read

// y[i] = factor * x[rows[i]], [count, D].
template <typename Rows>
Tensor select_rows(const Tensor& x, const Rows& rows, float factor) {
  const Index cols = x.dim(1), count = std::ssize(rows);
  Tensor y = Tensor::empty({count, cols});
  parallel_ranges(count, grain, [&, from = x.data(), to = y.data()](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      kernels::scale(to + i * cols, from + rows[i] * cols, factor, cols);
    }
  });
  return y;
}

// dx[rows[i]] += factor * dy[i]. Each piece owns a range of columns, and takes the rows in order.
template <typename Rows>
Tensor scatter_add(Tensor dx, const Tensor& dy, const Rows& rows, float factor) {
  constexpr Index columns = 32;
  const Index cols = dx.dim(1);
  parallel_ranges(cols, columns, [&, from = dy.data(), to = dx.data()](Index begin, Index end) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      kernels::add_scaled(to + rows[i] * cols + begin, from + static_cast<Index>(i) * cols + begin,
                          factor, end - begin);
    }
  });
  return dx;
}

// The first input's gradient so far, or zeros.
Tensor gradient_so_far(const TakeGradient& take, const Shape& shape) {
  Tensor gradient = take(0);
  return gradient.is_defined() ? gradient : Tensor::zeros(shape);
}

void check_ids(std::span<const int> ids, Index num_rows) {
  for (const int id : ids) {
    check(id >= 0 && id < num_rows, "embedding: expected ids below ", num_rows, ", got ", id);
  }
}

}  // namespace

Tensor embedding(const Tensor& table, std::span<const int> ids, float scale) {
  check(table.rank() == 2, "embedding: expected a table [V, D], got ", table.shape());
  check_ids(ids, table.dim(0));
  return record(select_rows(table, ids, scale), {table},
                [ids = std::vector<int>(ids.begin(), ids.end()), shape = table.shape(), scale](
                    const Tensor& dy, const TakeGradient& take) -> Gradients {
                  return {scatter_add(gradient_so_far(take, shape), dy, ids, scale)};
                });
}

Tensor embedding(const PackedMatrix& table, std::span<const int> ids, float scale) {
  check_ids(ids, table.out_dim());
  const Index cols = table.in_dim(), count = std::ssize(ids);
  Tensor y = Tensor::empty({count, cols});
  parallel_ranges(count, packed_grain, [&, to = y.data()](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      float* row = to + i * cols;
      table.copy_row(ids[i], row);
      kernels::scale(row, row, scale, cols);
    }
  });
  return y;
}

Tensor gather_rows(const Tensor& x, std::span<const Index> rows) {
  check(x.rank() == 2, "gather_rows: expected rows [N, D], got ", x.shape());
  for (const Index row : rows) {
    check(row >= 0 && row < x.dim(0), "gather_rows: expected rows below ", x.dim(0), ", got ", row);
  }
  return record(select_rows(x, rows, 1), {x},
                [rows = std::vector<Index>(rows.begin(), rows.end()), shape = x.shape()](
                    const Tensor& dy, const TakeGradient& take) -> Gradients {
                  return {scatter_add(gradient_so_far(take, shape), dy, rows, 1)};
                });
}

Packed prepend_row(const Tensor& row, const Packed& x) {
  check(x.values.rank() == 2 && row.shape() == Shape{1, x.values.dim(1)},
        "prepend_row: expected a row [1, D] and rows [N, D], got ", row.shape(), " and ",
        x.values.shape());
  const Index cols = x.values.dim(1);
  std::vector<Index> lengths;
  for (const Span& span : x.spans) lengths.push_back(span.length + 1);
  const Spans spans = Spans::of_lengths(lengths);
  Tensor y = Tensor::empty({spans.end_row(), cols});
  for (Index s = 0; s < spans.count(); ++s) {
    float* to = y.data() + spans[s].begin * cols;
    std::copy_n(row.data(), cols, to);
    std::copy_n(x.values.data() + x.spans[s].begin * cols, x.spans[s].length * cols, to + cols);
  }
  const auto backward = [from = x.spans, spans, shape = x.values.shape()](const Tensor& dy) {
    const Index width = shape.dim(1);
    Tensor drow = Tensor::zeros({1, width}), dx = Tensor::zeros(shape);
    for (Index s = 0; s < spans.count(); ++s) {
      const float* rows = dy.data() + spans[s].begin * width;
      kernels::add(drow.data(), drow.data(), rows, width);
      std::copy_n(rows + width, from[s].length * width, dx.data() + from[s].begin * width);
    }
    return Gradients{drow, dx};
  };
  return {record(y, {row, x.values}, backward), spans};
}

}  // namespace heed::ops
