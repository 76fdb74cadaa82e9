#include "heed/ops/argmax_projection.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/core/storage.h"
#include "heed/kernels/adam.h"
#include "heed/kernels/integer_argmax.h"

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

}  // namespace

ArgmaxProjection::ArgmaxProjection(const Tensor& weight) {
  check(weight.rank() == 2, "argmax_projection: expected a weight [O, I], got ", weight.shape());
  out_dim_ = weight.dim(0);
  in_dim_ = weight.dim(1);
  const Index row_size = kernels::integer_row_size(in_dim_);
  panels_ = allocate_floats(quotient_up(kernels::integer_packed_size(in_dim_, out_dim_), 2));

  const Index piece_rows = panels_per_piece * kernels::integer_panel_rows();
  std::vector<double> lengths(out_dim_);
  parallel_ranges(out_dim_, piece_rows, [&, from = weight.data()](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      lengths[row] = length_of(from + row * in_dim_, in_dim_);
    }
  });
  const bool is_finite = std::ranges::all_of(lengths, [](double x) { return std::isfinite(x); });
  scale_ = is_finite && out_dim_ > 0 ? scale_to_longest(std::ranges::max(lengths)) : 0.0f;
  if (scale_ == 0) return;
  parallel_ranges(out_dim_, piece_rows, [&, from = weight.data()](Index begin, Index end) {
    std::vector<std::int16_t> rows((end - begin) * row_size);
    for (Index row = begin; row < end; ++row) {
      kernels::to_integers(rows.data() + (row - begin) * row_size, from + row * in_dim_, scale_,
                           in_dim_);
    }
    kernels::pack_integers(panels() + kernels::integer_packed_size(in_dim_, begin), rows.data(),
                           in_dim_, end - begin);
  });
}

std::vector<Index> ArgmaxProjection::argmax(const Tensor& x, double margin) const {
  check(x.rank() == 2 && x.dim(1) == in_dim_, "argmax_projection: expected x [N, ", in_dim_,
        "], got ", x.shape());
  const Index num_rows = x.dim(0), row_size = kernels::integer_row_size(in_dim_);
  std::vector<Index> result(num_rows, inconclusive);
  if (scale_ == 0 || num_rows == 0) return result;

  std::vector<float> scales(num_rows);
  std::vector<std::int16_t> integers(num_rows * row_size, 0);
  for (Index i = 0; i < num_rows; ++i) {
    const float* row = x.data() + i * in_dim_;
    scales[i] = scale_to_longest(length_of(row, in_dim_));
    if (scales[i] == 0) continue;
    kernels::to_integers(integers.data() + i * row_size, row, scales[i], in_dim_);
  }

  const Index piece_rows = panels_per_piece * kernels::integer_panel_rows();
  const Index num_pieces = quotient_up(out_dim_, piece_rows);
  std::vector<kernels::TopTwo> products(num_pieces * num_rows);
  parallel_ranges(out_dim_, piece_rows, [&](Index begin, Index end) {
    kernels::integer_argmax(products.data() + begin / piece_rows * num_rows, integers.data(),
                            num_rows, panels() + kernels::integer_packed_size(in_dim_, begin),
                            end - begin, in_dim_);
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
    if (ahead > 2 * largest_error(in_dim_) + scaled_margin) result[i] = best.row;
  }
  return result;
}

}  // namespace heed::ops
