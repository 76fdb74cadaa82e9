#include "heed/ops/projection_cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/core/storage.h"
#include "heed/kernels/elementwise.h"
#include "heed/kernels/gemm.h"
#include "heed/kernels/softmax.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/linear.h"

namespace heed::ops {
namespace {

constexpr Index loss_rows = 96;  // whose losses are taken at a time

// Rows are taken in chunks, whose logits exist at one time, and columns in tiles: a tile's share of
// the weight stays in L2 while all rows of the chunk are multiplied by it.
constexpr Index large_weight = 4 << 20;  // values
Index max_chunk_rows(Index weight_size) { return weight_size < large_weight ? 384 : 768; }
// A chunk's rows of a tile are taken in pieces: L2 holds the logits of one and
// of the next, beside the tile's share of the weight and of its gradient.
constexpr Index piece_values = 44000;   // logits
constexpr Index max_piece_rows = 252;   // which are summed over in one go
constexpr Index tile_values = 1 << 16;  // of the weight
constexpr Index tile_step = 32;         // columns: whole panels of any width
constexpr Index min_tile = 96, max_tile = 512;
constexpr Index max_groups = 12;  // of tiles, each with its own sum of dx

// The columns in tiles of nearly one width and, unless they are few, a number of tiles that small
// numbers of threads share evenly.
class Tiles {
 public:
  Tiles(Index columns, Index dim) : columns_(columns), num_steps_(quotient_up(columns, tile_step)) {
    constexpr Index even_number = 4;
    const Index widest = std::clamp(tile_values / std::max<Index>(dim, 1) / tile_step * tile_step,
                                    min_tile, max_tile);
    count_ = std::max<Index>(1, quotient_up(columns, widest));
    if (count_ > even_number) count_ = round_up(count_, even_number);
  }

  Index count() const { return count_; }
  Index begin(Index tile) const { return num_steps_ * tile / count_ * tile_step; }
  Index width(Index tile) const { return std::min(begin(tile + 1), columns_) - begin(tile); }
  bool holds(Index tile, Index column) const {
    return column >= begin(tile) && column < begin(tile + 1);
  }
  Index max_width() const { return quotient_up(num_steps_, count_) * tile_step; }

 private:
  Index columns_, num_steps_, count_;
};

// Rows of a piece: whole tiles, and pieces of nearly one size.
Index even_piece_rows(Index chunk_rows, Index tile_width) {
  const Index max_rows = std::min(max_piece_rows, piece_values / std::max<Index>(1, tile_width));
  const Index num_pieces = std::max<Index>(1, quotient_up(chunk_rows, max_rows));
  return round_up(std::max<Index>(1, quotient_up(chunk_rows, num_pieces)), kernels::gemm_mr);
}

// The softmax of a row, from all parts of its logits.
struct RowSoftmax {
  double max = 0, sum = 0, shifts = 0;
};

RowSoftmax combine_parts(std::span<const kernels::LogitsPart> parts, const Tiles& tiles) {
  RowSoftmax row;
  row.max = parts[0].max;
  for (const kernels::LogitsPart& part : parts) row.max = std::max<double>(row.max, part.max);
  for (Index tile = 0; tile < tiles.count(); ++tile) {
    const kernels::LogitsPart& part = parts[static_cast<std::size_t>(tile)];
    const double below = part.max - row.max;
    row.sum += part.sum == 0 ? 0 : part.sum * std::exp(below);
    row.shifts += part.shifts + below * static_cast<double>(tiles.width(tile));
  }
  return row;
}

// One pass over all rows: the losses and, where wanted, gradients for a loss of weight 1. A chunk
// takes two passes. The first computes its logits, tile by tile, as e^(z - max) with the maximum of
// their part of the row. Then all parts of a row are known, and the second turns a tile into the
// gradient of its logits and multiplies it into dx and the weight's gradient.
//
// Capped logits stay as they are between the passes, as their gradient needs them.
class ProjectionPass {
 public:
  ProjectionPass(const Tensor& x, const Tensor& weight, const Tensor& bias,
                 std::span<const int> targets, float smoothing, float softcap, bool wants_gradients)
      : x_(x),
        weight_(weight),
        bias_(bias),
        targets_(targets),
        smoothing_(smoothing),
        softcap_(softcap),
        wants_gradients_(wants_gradients),
        rows_(x.dim(0)),
        dim_(x.dim(1)),
        classes_(weight.dim(0)),
        tiles_(classes_, dim_),
        num_tiles_(tiles_.count()),
        num_groups_(std::min(max_groups, num_tiles_)),
        chunk_rows_(std::min(rows_, max_chunk_rows(weight.size()))),
        tile_stride_(kernels::gemm_row_stride(tiles_.max_width())),
        piece_rows_(even_piece_rows(chunk_rows_, tiles_.max_width())),
        parts_(chunk_rows_ * num_tiles_),
        factors_(chunk_rows_ * num_tiles_),
        at_target_(chunk_rows_),
        losses_(rows_) {}

  void run() {
    prepare();
    for (first_ = 0; first_ < rows_; first_ += chunk_rows_) {
      count_ = std::min(chunk_rows_, rows_ - first_);
      parallel_for(num_tiles_, [&](Index tile) { make_logits(tile); });
      parallel_ranges(count_, loss_rows, [&](Index begin, Index end) {
        for (Index row = begin; row < end; ++row) take_loss(row);
      });
      if (wants_gradients_) make_gradients();
    }
  }

  double smoothed() const {
    double sum = 0;
    for (const kernels::RowLoss& loss : losses_) sum += loss.smoothed;
    return sum;
  }
  double negative_log_likelihood() const {
    double sum = 0;
    for (const kernels::RowLoss& loss : losses_) sum += loss.negative_log_likelihood;
    return sum;
  }

  Tensor dx, dweight, dbias;

 private:
  // The weight is packed once for all chunks: as columns for the logits, as rows for dx.
  void prepare() {
    logits_ = allocate_floats(num_tiles_ * chunk_rows_ * tile_stride_);
    weight_columns_ = allocate_floats(kernels::gemm_packed_size(dim_, tiles_.begin(num_tiles_)));
    if (wants_gradients_) {
      dx = Tensor::empty(x_.shape());
      if (weight_.needs_gradient()) {
        dweight = rows_ > 0 ? Tensor::empty(weight_.shape()) : Tensor::zeros(weight_.shape());
        x_panels_ =
            allocate_floats(kernels::gemm_packed_size(round_up(chunk_rows_, piece_rows_), dim_));
      }
      if (bias_.is_defined()) dbias = Tensor::zeros(bias_.shape());
      weight_rows_ = allocate_floats(num_tiles_ * weight_rows_size());
      dx_sums_ = allocate_floats(num_groups_ * chunk_rows_ * dim_);
    }
    parallel_for(num_tiles_, [&](Index tile) {
      const float* from = weight_.data() + tiles_.begin(tile) * dim_;
      kernels::gemm_pack(columns_of(tile), {from, 1, dim_}, dim_, tiles_.width(tile));
      if (!wants_gradients_) return;
      kernels::gemm_pack(rows_of(tile), {from, dim_}, tiles_.width(tile), dim_);
    });
  }

  Index weight_rows_size() const { return kernels::gemm_packed_size(tiles_.max_width(), dim_); }
  float* columns_of(Index tile) { return weight_columns_.get() + tiles_.begin(tile) * dim_; }
  float* rows_of(Index tile) { return weight_rows_.get() + tile * weight_rows_size(); }
  // Rows are counted from where the chunk begins.
  float* logits(Index tile, Index row) {
    return logits_.get() + (tile * chunk_rows_ + row) * tile_stride_;
  }
  // Of the piece that begins with a row.
  float* x_panels(Index row) {
    return x_panels_.get() + row / piece_rows_ * kernels::gemm_packed_size(piece_rows_, dim_);
  }
  int target(Index row) const { return targets_[static_cast<std::size_t>(first_ + row)]; }

  void make_logits(Index tile) {
    const Index begin = tiles_.begin(tile), width = tiles_.width(tile);
    for (Index row = 0; row < count_; row += piece_rows_) {
      const Index last = std::min(row + piece_rows_, count_);
      kernels::gemm({logits(tile, row), tile_stride_}, {x_.data() + (first_ + row) * dim_, dim_},
                    columns_of(tile), {last - row, width, dim_},
                    {.epilogue = {.bias = bias_.is_defined() ? bias_.data() + begin : nullptr}});
      for (Index i = row; i < last; ++i) {
        float* z = logits(tile, i);
        if (softcap_ > 0) kernels::softcap(z, z, softcap_, width);
        if (tiles_.holds(tile, target(i))) at_target_[i] = z[target(i) - begin];
        parts_[i * num_tiles_ + tile] = take_part(z, width);
      }
    }
  }

  // The logits become e^(z - max), unless they are capped.
  kernels::LogitsPart take_part(float* z, Index width) {
    if (softcap_ == 0) return kernels::take_logits_part(z, width, smoothing_ != 0);
    std::vector<float> copy(z, z + width);
    return kernels::take_logits_part(copy.data(), width, smoothing_ != 0);
  }

  void take_loss(Index row) {
    const std::span parts(&parts_[row * num_tiles_], static_cast<std::size_t>(num_tiles_));
    const RowSoftmax all = combine_parts(parts, tiles_);
    const double logsumexp = std::log(all.sum);
    const double likelihood = logsumexp - (static_cast<double>(at_target_[row]) - all.max);
    const double over_all = logsumexp - all.shifts / static_cast<double>(classes_);
    const double share = smoothing_ == 0 ? 0 : smoothing_ * over_all;
    losses_[first_ + row] = {(1 - static_cast<double>(smoothing_)) * likelihood + share,
                             likelihood};
    for (Index tile = 0; tile < num_tiles_; ++tile) {
      factors_[row * num_tiles_ + tile] =
          static_cast<float>(std::exp(parts[tile].max - all.max) / all.sum);
    }
  }

  void pack_x() {
    parallel_ranges(count_, piece_rows_, [&](Index begin, Index end) {
      kernels::gemm_pack(x_panels(begin), {x_.data() + (first_ + begin) * dim_, dim_}, end - begin,
                         dim_);
    });
  }

  void make_gradients() {
    if (dweight.is_defined()) pack_x();
    parallel_for(num_groups_, [&](Index group) {
      const Index begin = num_tiles_ * group / num_groups_;
      const Index end = num_tiles_ * (group + 1) / num_groups_;
      float* sum = dx_sums_.get() + group * chunk_rows_ * dim_;
      for (Index tile = begin; tile < end; ++tile) {
        for (Index row = 0; row < count_; row += piece_rows_) {
          add_gradients(tile, row, std::min(row + piece_rows_, count_), sum, tile > begin);
        }
      }
    });
    // The groups' sums in their order.
    parallel_ranges(count_ * dim_, 1 << 13, [&](Index begin, Index end) {
      float* out = dx.data() + first_ * dim_ + begin;
      std::copy_n(dx_sums_.get() + begin, end - begin, out);
      for (Index group = 1; group < num_groups_; ++group) {
        kernels::add(out, out, dx_sums_.get() + group * chunk_rows_ * dim_ + begin, end - begin);
      }
    });
  }

  // Rows [begin, end) of a tile, while they are in the cache: their logits become gradients, and
  // are multiplied into dx_sum [chunk rows, D] and the weight's gradient.
  void add_gradients(Index tile, Index begin, Index end, float* dx_sum, bool adds_to_sum) {
    make_dlogits(tile, begin, end);
    const bool is_last = end == count_;  // then the next tile begins
    const Index next_tile = is_last ? tile + 1 : tile, next_row = is_last ? 0 : end;
    const Index next_rows = next_tile < num_tiles_ ? std::min(piece_rows_, count_ - next_row) : 0;
    kernels::gemm({dx_sum + begin * dim_, dim_}, {logits(tile, begin), tile_stride_}, rows_of(tile),
                  {end - begin, dim_, tiles_.width(tile)},
                  {.epilogue = {.accumulate = adds_to_sum},
                   .prefetch = {logits(next_tile, next_row), next_rows * tile_stride_}});
    add_dweight(tile, begin, end);
  }

  void make_dlogits(Index tile, Index begin, Index end) {
    const float spread = smoothing_ / static_cast<float>(classes_);
    for (Index row = begin; row < end; ++row) {
      float* z = logits(tile, row);
      const Index width = tiles_.width(tile);
      const std::vector<float> capped =
          softcap_ > 0 ? std::vector(z, z + width) : std::vector<float>();
      if (softcap_ > 0) kernels::take_logits_part(z, width, /*wants_shifts=*/false);
      kernels::logits_part_gradient(z, factors_[row * num_tiles_ + tile], spread, width);
      if (tiles_.holds(tile, target(row))) z[target(row) - tiles_.begin(tile)] -= 1 - smoothing_;
      if (softcap_ > 0) kernels::softcap_backward(z, z, capped.data(), softcap_, width);
    }
  }

  // dweight [V, D] += dlogits^T x, unless the weight is frozen.
  void add_dweight(Index tile, Index begin, Index end) {
    const Index column = tiles_.begin(tile), width = tiles_.width(tile);
    const float* dlogits = logits(tile, begin);
    if (dweight.is_defined()) {
      kernels::gemm({dweight.data() + column * dim_, dim_}, {dlogits, 1, tile_stride_},
                    x_panels(begin), {width, dim_, end - begin},
                    {.epilogue = {.accumulate = first_ + begin > 0}});
    }
    if (bias_.is_defined()) {
      kernels::add_rows(dbias.data() + column, dlogits, end - begin, width, tile_stride_);
    }
  }

  const Tensor &x_, &weight_, &bias_;
  std::span<const int> targets_;
  float smoothing_, softcap_;
  bool wants_gradients_;
  Index rows_, dim_, classes_;
  Tiles tiles_;
  Index num_tiles_, num_groups_, chunk_rows_, tile_stride_, piece_rows_;
  Index first_ = 0, count_ = 0;             // the rows of this chunk
  std::vector<kernels::LogitsPart> parts_;  // [chunk rows, tiles]
  std::vector<float> factors_;              // [chunk rows, tiles]: e^(part's max - row's max) / sum
  std::vector<float> at_target_;
  std::vector<kernels::RowLoss> losses_;
  std::shared_ptr<float> logits_, weight_columns_, weight_rows_, x_panels_, dx_sums_;
};

void scale_in_place(Tensor& x, float factor) {
  if (factor == 1 || !x.is_defined()) return;
  parallel_ranges(x.size(), 1 << 15, [&](Index begin, Index end) {
    kernels::scale(x.data() + begin, x.data() + begin, factor, end - begin);
  });
}

}  // namespace

ProjectionLoss projection_cross_entropy(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                        std::span<const int> targets, float label_smoothing,
                                        float softcap) {
  check(x.rank() == 2 && weight.rank() == 2 && x.dim(1) == weight.dim(1),
        "projection_cross_entropy: expected x [N, D] and weight [V, D], got ", x.shape(), " and ",
        weight.shape());
  check(!bias.is_defined() || bias.shape() == Shape{weight.dim(0)},
        "projection_cross_entropy: expected bias [", weight.dim(0), "], got ", bias.shape());
  check_targets("projection_cross_entropy", targets, x.dim(0), weight.dim(0), std::nullopt);
  const bool wants_gradients =
      is_grad_enabled() && (x.needs_gradient() || weight.needs_gradient() || bias.needs_gradient());
  ProjectionPass pass(x, weight, bias, targets, label_smoothing, softcap, wants_gradients);
  pass.run();

  std::vector<Tensor> inputs{x, weight};
  if (bias.is_defined()) inputs.push_back(bias);
  Tensor loss = record(Tensor::full({}, static_cast<float>(pass.smoothed())), inputs,
                       [dx = pass.dx, dweight = pass.dweight,
                        dbias = pass.dbias](const Tensor& dy) mutable -> Gradients {
                         scale_in_place(dx, dy.item());
                         scale_in_place(dweight, dy.item());
                         if (!dbias.is_defined()) return {dx, dweight};
                         scale_in_place(dbias, dy.item());
                         return {dx, dweight, dbias};
                       });
  return {loss, pass.negative_log_likelihood()};
}

ProjectionLoss projection_cross_entropy(const Tensor& x, const PackedMatrix& weight,
                                        const Tensor& bias, std::span<const int> targets,
                                        float label_smoothing, float softcap) {
  check(x.rank() == 2 && x.dim(1) == weight.in_dim(), "projection_cross_entropy: expected x [N, ",
        weight.in_dim(), "], got ", x.shape());
  const Index rows = x.dim(0), dim = x.dim(1), classes = weight.out_dim();
  check_targets("projection_cross_entropy", targets, rows, classes, std::nullopt);
  constexpr Index chunk_rows = 384;
  std::vector<kernels::RowLoss> losses(rows);
  for (Index first = 0; first < rows; first += chunk_rows) {
    const Index count = std::min(chunk_rows, rows - first);
    const auto values = x.values().subspan(first * dim, count * dim);
    Tensor logits = linear(Tensor::from(values, {count, dim}), weight, bias);  // [count, V]
    parallel_ranges(count, 16, [&, row = logits.data()](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        if (softcap > 0) kernels::softcap(row + i * classes, row + i * classes, softcap, classes);
        losses[first + i] = kernels::cross_entropy_row(row + i * classes, classes,
                                                       targets[first + i], label_smoothing);
      }
    });
  }
  double smoothed = 0, negative_log_likelihood = 0;
  for (const kernels::RowLoss& loss : losses) {
    smoothed += loss.smoothed;
    negative_log_likelihood += loss.negative_log_likelihood;
  }
  return {Tensor::full({}, static_cast<float>(smoothed)), negative_log_likelihood};
}

}  // namespace heed::ops
