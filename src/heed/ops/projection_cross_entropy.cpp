#include "heed/ops/projection_cross_entropy.h"

#include <algorithm>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/core/storage.h"
#include "heed/kernels/elementwise.h"
#include "heed/kernels/gemm.h"
#include "heed/kernels/softmax.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/transpose.h"

namespace heed::ops {
namespace {

// Rows are taken in chunks, whose logits exist at one time, and a chunk in pieces. Few rows keep
// the logits of a chunk in the last-level cache beside the weight; a weight that is too large for
// it is better read seldom, for many rows at once.
constexpr Index pieces_per_chunk = 8;
constexpr Index large_weight = 4 << 20;  // values
Index piece_rows(Index weight_size) { return weight_size < large_weight ? 48 : 96; }

constexpr Index column_tile = 480;  // of logits: whole panels of any width

// One pass over all rows: the losses and, where wanted, gradients for a loss of weight 1.
class ProjectionPass {
 public:
  ProjectionPass(const Tensor& x, const Tensor& weight, const Tensor& bias,
                 std::span<const int> targets, float smoothing, bool wants_gradients)
      : x_(x),
        weight_(weight),
        bias_(bias),
        targets_(targets),
        smoothing_(smoothing),
        wants_gradients_(wants_gradients),
        rows_(x.dim(0)),
        dim_(x.dim(1)),
        classes_(weight.dim(0)),
        piece_rows_(piece_rows(weight.size())),
        chunk_rows_(std::min(rows_, pieces_per_chunk * piece_rows_)),
        logits_stride_(kernels::gemm_unpacked_stride(classes_)),
        x_stride_(kernels::gemm_unpacked_stride(dim_)),
        losses_(static_cast<std::size_t>(rows_)) {}

  void run() {
    prepare();
    for (Index first = 0; first < rows_; first += chunk_rows_) {
      const Index count = std::min(chunk_rows_, rows_ - first);
      parallel_ranges(count, piece_rows_, [&](Index begin, Index end) {
        make_logits(first, begin, end);
        take_losses(first, begin, end);
        if (wants_gradients_) make_dx(first, begin, end);
      });
      if (!wants_gradients_) continue;
      parallel_ranges(classes_, column_tile,
                      [&](Index begin, Index end) { add_dweight(first, count, begin, end); });
    }
    if (wants_gradients_) {
      dweight = Tensor::empty(weight_.shape());
      transpose(dweight.data(), dim_, dweight_columns_.get(), logits_stride_, dim_, classes_);
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
    logits_ = allocate_floats(chunk_rows_ * logits_stride_);
    weight_columns_ = allocate_floats(kernels::gemm_packed_size(dim_, classes_));
    const Index columns = 8 * kernels::gemm_panel_width();
    parallel_ranges(classes_, columns, [&](Index begin, Index end) {
      kernels::gemm_pack(weight_columns_.get() + begin * dim_, weight_.data() + begin * dim_, 1,
                         dim_, dim_, end - begin);
    });
    if (!wants_gradients_) return;
    dx = Tensor::empty(x_.shape());
    if (bias_.is_defined()) dbias = Tensor::zeros(bias_.shape());
    x_rows_ = allocate_floats(chunk_rows_ * x_stride_);
    dweight_columns_ = allocate_floats(dim_ * logits_stride_);
    if (rows_ == 0) std::fill_n(dweight_columns_.get(), dim_ * logits_stride_, 0.0f);
    weight_rows_ = allocate_floats(kernels::gemm_packed_size(classes_, dim_));
    parallel_ranges(dim_, kernels::gemm_panel_width(), [&](Index begin, Index end) {
      kernels::gemm_pack(weight_rows_.get() + begin * classes_, weight_.data() + begin, dim_, 1,
                         classes_, end - begin);
    });
  }

  float* logits(Index row) { return logits_.get() + row * logits_stride_; }

  // Rows [begin, end) are counted from `first`, where the chunk begins.
  void make_logits(Index first, Index begin, Index end) {
    for (Index column = 0; column < classes_; column += column_tile) {
      kernels::gemm(logits(begin) + column, logits_stride_, x_.data() + (first + begin) * dim_,
                    dim_, 1, weight_columns_.get() + column * dim_, end - begin,
                    std::min(column_tile, classes_ - column), dim_, false,
                    bias_.is_defined() ? bias_.data() + column : nullptr);
    }
  }

  // From here on the chunk holds the gradient of the logits.
  void take_losses(Index first, Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      losses_[first + row] =
          kernels::cross_entropy_row(logits(row), classes_, targets_[first + row], smoothing_);
    }
  }

  void make_dx(Index first, Index begin, Index end) {
    kernels::gemm(dx.data() + (first + begin) * dim_, dim_, logits(begin), logits_stride_, 1,
                  weight_rows_.get(), end - begin, dim_, classes_, false, nullptr);
    for (Index row = begin; row < end; ++row) {
      const float* from = x_.data() + (first + row) * dim_;
      std::copy(from, from + dim_, x_rows_.get() + row * x_stride_);
    }
  }

  // dweight^T [D, V] = x^T dlogits: its columns lie as the logits do, so nothing is packed.
  void add_dweight(Index first, Index count, Index begin, Index end) {
    kernels::gemm_unpacked(dweight_columns_.get() + begin, logits_stride_, x_rows_.get(), 1,
                           x_stride_, logits(0) + begin, logits_stride_, dim_, end - begin, count,
                           first > 0);
    if (bias_.is_defined()) {
      kernels::add_rows(dbias.data() + begin, logits(0) + begin, count, end - begin,
                        logits_stride_);
    }
  }

  const Tensor &x_, &weight_, &bias_;
  std::span<const int> targets_;
  float smoothing_;
  bool wants_gradients_;
  Index rows_, dim_, classes_, piece_rows_, chunk_rows_, logits_stride_, x_stride_;
  std::vector<kernels::RowLoss> losses_;
  std::shared_ptr<float> logits_, x_rows_, weight_columns_, weight_rows_, dweight_columns_;
};

void scale_in_place(Tensor& x, float factor) {
  if (factor == 1) return;
  parallel_ranges(x.size(), 1 << 15, [&](Index begin, Index end) {
    kernels::scale(x.data() + begin, x.data() + begin, factor, end - begin);
  });
}

}  // namespace

ProjectionLoss projection_cross_entropy(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                        std::span<const int> targets, float label_smoothing) {
  check(x.rank() == 2 && weight.rank() == 2 && x.dim(1) == weight.dim(1),
        "projection_cross_entropy: expected x [N, D] and weight [V, D], got ", x.shape(), " and ",
        weight.shape());
  check(!bias.is_defined() || bias.shape() == Shape{weight.dim(0)},
        "projection_cross_entropy: expected bias [", weight.dim(0), "], got ", bias.shape());
  check_targets("projection_cross_entropy", targets, x.dim(0), weight.dim(0), std::nullopt);
  const bool wants_gradients =
      is_recording() && (x.needs_gradient() || weight.needs_gradient() || bias.needs_gradient());
  ProjectionPass pass(x, weight, bias, targets, label_smoothing, wants_gradients);
  pass.run();

  std::vector<Tensor> inputs{x, weight};
  if (bias.is_defined()) inputs.push_back(bias);
  Tensor loss = record(Tensor::full({}, static_cast<float>(pass.smoothed())), std::move(inputs),
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
                                        std::span<const int> targets, float label_smoothing) {
  check(x.rank() == 2 && x.dim(1) == weight.in_dim(), "projection_cross_entropy: expected x [N, ",
        weight.in_dim(), "], got ", x.shape());
  const Index rows = x.dim(0), dim = x.dim(1), classes = weight.out_dim();
  check_targets("projection_cross_entropy", targets, rows, classes, std::nullopt);
  constexpr Index chunk_rows = 384;
  std::vector<kernels::RowLoss> losses(rows);
  for (Index first = 0; first < rows; first += chunk_rows) {
    const Index count = std::min(chunk_rows, rows - first);
    const auto values = x.values().subspan(first * dim, count * dim);
    Tensor logits = linear(Tensor::from(values, {count, dim}), weight, Tensor());  // [count, V]
    parallel_ranges(count, 16, [&, row = logits.data()](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
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
