#include "heed/ops/argmax_projection.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/core/storage.h"
#include "heed/kernels/adam.h"
#include "heed/kernels/integer_argmax.h"
#include "heed/ops/elementwise.h"

namespace heed::ops {
namespace {

// The length of the longest row in integers. So no integer is beyond 16 bits, and no sum of a
// product, which is at most the square of it, beyond 32.
constexpr double longest = 32700;

// 0 where there is none: for zeros, for what is not finite, and for numbers so small or large that
// products of floats would lose digits or become infinite.
float scale_to_longest(double length) {
  const double scale = longest / length;
  return scale > 1e-14 && scale < 1e14 ? static_cast<float>(scale) : 0.0f;
}

double length_of(const float* row, Index count) {
  return std::sqrt(kernels::sum_of_squares(row, count));
}

// The bound on the error of a product of two rows in integers, in the scale of integers, against
// the one in floats.
//
// A row of integers is off by half in each number, and a little for the rounding of number x scale:
// by 0.51 sqrt(k) in length. So the product is off by that times the lengths of both rows, and of
// both errors. The sum in floats rounds less than 2 k times, each by 2^-24 of at most the product
// of the lengths.
double largest_error(Index k) {
  const double width = static_cast<double>(k);
  const double rounding = 0.51 * std::sqrt(width);
  const double integers = rounding * (2 * longest + rounding);
  return integers + 2 * width * std::ldexp(longest * longest, -24);
}

constexpr Index panels_per_piece = 16;

// x [N, I] with one more column, [N, I + 1]: numbers that are `step` apart in memory.
Tensor with_column(const Tensor& x, const float* column, Index step) {
  const Index rows = x.dim(0), cols = x.dim(1);
  Tensor y = Tensor::empty({rows, cols + 1});
  for (Index row = 0; row < rows; ++row) {
    std::copy_n(x.data() + row * cols, cols, y.data() + row * (cols + 1));
    y.data()[row * (cols + 1) + cols] = column[row * step];
  }
  return y;
}

}  // namespace

ArgmaxProjection ArgmaxProjection::never(Index in_dim) {
  ArgmaxProjection projection;
  projection.in_dim_ = projection.row_dim_ = in_dim;
  return projection;
}

ArgmaxProjection::ArgmaxProjection(const Tensor& weight, const ArgmaxProjectionOptions& options) {
  const Tensor& bias = options.bias;
  check(weight.rank() == 2, "argmax_projection: expected a weight [O, I], got ", weight.shape());
  check(!bias.is_defined() || bias.shape() == Shape{weight.dim(0)},
        "argmax_projection: expected a bias [", weight.dim(0), "], got ", bias.shape());
  const Tensor matrix = bias.is_defined() ? with_column(weight, bias.data(), 1) : weight;
  out_dim_ = weight.dim(0);
  in_dim_ = weight.dim(1);
  row_dim_ = matrix.dim(1);
  input_scale_ = options.scale;
  const Index row_size = kernels::integer_row_size(row_dim_);
  panels_ = allocate_floats(quotient_up(kernels::integer_packed_size(row_dim_, out_dim_), 2));

  const Index piece_rows = panels_per_piece * kernels::integer_panel_rows();
  std::vector<double> lengths(out_dim_);
  parallel_ranges(out_dim_, piece_rows, [&, from = matrix.data()](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      lengths[row] = length_of(from + row * row_dim_, row_dim_);
    }
  });
  const bool is_finite = std::ranges::all_of(lengths, [](double x) { return std::isfinite(x); });
  scale_ = is_finite && out_dim_ > 0 ? scale_to_longest(std::ranges::max(lengths)) : 0.0f;
  if (scale_ == 0) return;
  parallel_ranges(out_dim_, piece_rows, [&, from = matrix.data()](Index begin, Index end) {
    std::vector<std::int16_t> rows((end - begin) * row_size);
    for (Index row = begin; row < end; ++row) {
      kernels::to_integers(rows.data() + (row - begin) * row_size, from + row * row_dim_, scale_,
                           row_dim_);
    }
    kernels::pack_integers(panels() + kernels::integer_packed_size(row_dim_, begin), rows.data(),
                           row_dim_, end - begin);
  });
}

Tensor ArgmaxProjection::scaled_input(const Tensor& x) const {
  const NoGrad no_grad;
  const Tensor scaled = input_scale_ == 1 ? x : scale(x, input_scale_);
  constexpr float one = 1;
  return has_bias() ? with_column(scaled, &one, 0) : scaled;
}

std::vector<Index> ArgmaxProjection::argmax(const Tensor& x, double margin) const {
  check(x.rank() == 2 && x.dim(1) == in_dim_, "argmax_projection: expected x [N, ", in_dim_,
        "], got ", x.shape());
  const Tensor input = scaled_input(x);
  const Index num_rows = input.dim(0), row_size = kernels::integer_row_size(row_dim_);
  std::vector<Index> result(num_rows, inconclusive);
  if (scale_ == 0 || num_rows == 0) return result;

  std::vector<float> scales(num_rows);
  std::vector<std::int16_t> integers(num_rows * row_size, 0);
  for (Index i = 0; i < num_rows; ++i) {
    const float* row = input.data() + i * row_dim_;
    scales[i] = scale_to_longest(length_of(row, row_dim_));
    if (scales[i] == 0) continue;
    kernels::to_integers(integers.data() + i * row_size, row, scales[i], row_dim_);
  }

  const Index piece_rows = panels_per_piece * kernels::integer_panel_rows();
  const Index num_pieces = quotient_up(out_dim_, piece_rows);
  std::vector<kernels::TopTwo> products(num_pieces * num_rows);
  parallel_ranges(out_dim_, piece_rows, [&](Index begin, Index end) {
    kernels::integer_argmax(products.data() + begin / piece_rows * num_rows, integers.data(),
                            num_rows, panels() + kernels::integer_packed_size(row_dim_, begin),
                            end - begin, row_dim_);
  });

  for (Index i = 0; i < num_rows; ++i) {
    kernels::TopTwo best;
    for (Index piece = 0; piece < num_pieces; ++piece) {
      kernels::TopTwo next = products[piece * num_rows + i];
      next.row += piece * piece_rows;
      best.merge(next);
    }
    const double ahead = static_cast<double>(best.largest) - static_cast<double>(best.second);
    const double scaled_margin =
        margin * static_cast<double>(scales[i]) * static_cast<double>(scale_);
    if (ahead > 2 * largest_error(row_dim_) + scaled_margin) result[i] = best.row;
  }
  return result;
}

}  // namespace heed::ops
