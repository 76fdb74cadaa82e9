#include "heed/ops/linear_backward.h"

#include "heed/base/parallel.h"
#include "heed/core/storage.h"
#include "heed/kernels/elementwise.h"
#include "heed/kernels/gemm.h"
#include "heed/ops/parallel_gemm.h"

namespace heed::ops {
namespace {

// A small weight's gradient: the rows are split into groups, and each group has its own sum over
// its rows, chunk by chunk. A chunk of dy is read once into L2 for all three products. For a large
// weight the groups' sums would cost more than they save.
constexpr Index num_groups = 16;
constexpr Index chunk_rows = 21 * kernels::gemm_mr;
constexpr Index largest_small_weight = 1 << 16;

// One for each group, added up in their order.
class GroupSums {
 public:
  explicit GroupSums(Index size) : size_(size), sums_(allocate_floats(num_groups * size)) {}

  float* of(Index group) { return sums_.get() + group * size_; }

  Tensor total(const Shape& shape) {
    constexpr Index grain = 1 << 12;
    Tensor sum = Tensor::empty(shape);
    parallel_ranges(size_, grain, [&, out = sum.data()](Index begin, Index end) {
      std::copy(of(0) + begin, of(0) + end, out + begin);
      for (Index group = 1; group < num_groups; ++group) {
        kernels::add(out + begin, out + begin, of(group) + begin, end - begin);
      }
    });
    return sum;
  }

 private:
  Index size_;
  std::shared_ptr<float> sums_;
};

// dx is accumulated in the gradient so far, or in new memory.
Tensor dx_of(const Tensor& x, const LinearBackwardOptions& options) {
  if (!options.wants_dx) return {};
  return options.dx_so_far.is_defined() ? options.dx_so_far : Tensor::empty(x.shape());
}

LinearGradients in_one_pass(const Tensor& dy, const Tensor& x, const Tensor& weight,
                            const LinearBackwardOptions& options) {
  const Index rows = x.dim(0), in_dim = weight.dim(1), out_dim = weight.dim(0);
  LinearGradients gradients{.dx = dx_of(x, options), .dweight = {}, .dbias = {}};
  std::shared_ptr<float> packed_weight;
  if (options.wants_dx) {
    packed_weight = allocate_floats(kernels::gemm_packed_size(out_dim, in_dim));
    kernels::gemm_pack(packed_weight.get(), {weight.data(), in_dim}, out_dim, in_dim);
  }
  GroupSums dweight(options.wants_dweight ? out_dim * in_dim : 0), dbias(out_dim);

  parallel_for(num_groups, [&](Index group) {
    const Index first = rows * group / num_groups, last = rows * (group + 1) / num_groups;
    std::fill_n(dbias.of(group), out_dim, 0.0f);
    std::shared_ptr<float> packed_x;
    if (options.wants_dweight) {
      packed_x = allocate_floats(kernels::gemm_packed_size(chunk_rows, in_dim));
    }
    for (Index begin = first; begin < last; begin += chunk_rows) {
      const Index count = std::min(chunk_rows, last - begin);
      const float* dy_rows = dy.data() + begin * out_dim;
      const float* x_rows = x.data() + begin * in_dim;
      const Index next_count = std::min(chunk_rows, rows - begin - count);
      if (options.wants_dx) {
        kernels::gemm({gradients.dx.data() + begin * in_dim, in_dim}, {dy_rows, out_dim},
                      packed_weight.get(), {count, in_dim, out_dim},
                      {.epilogue = {.accumulate = options.dx_so_far.is_defined()},
                       .prefetch = {x_rows + count * in_dim, next_count * in_dim}});
      }
      if (options.wants_dweight) {
        kernels::gemm_pack(packed_x.get(), {x_rows, in_dim}, count, in_dim);
        kernels::gemm({dweight.of(group), in_dim}, {dy_rows, 1, out_dim}, packed_x.get(),
                      {out_dim, in_dim, count},
                      {.epilogue = {.accumulate = begin > first},
                       .prefetch = {dy_rows + count * out_dim, next_count * out_dim}});
      }
      if (options.wants_dbias) kernels::add_rows(dbias.of(group), dy_rows, count, out_dim, out_dim);
    }
  });
  if (options.wants_dweight) gradients.dweight = dweight.total(weight.shape());
  if (options.wants_dbias) gradients.dbias = dbias.total({out_dim});
  return gradients;
}

LinearGradients one_by_one(const Tensor& dy, const Tensor& x, const Tensor& weight,
                           const LinearBackwardOptions& options) {
  const Index rows = x.dim(0), in_dim = weight.dim(1), out_dim = weight.dim(0);
  LinearGradients gradients{.dx = dx_of(x, options), .dweight = {}, .dbias = {}};
  if (options.wants_dx) {
    parallel_gemm({gradients.dx.data(), in_dim}, {dy.data(), out_dim}, {weight.data(), in_dim},
                  {rows, in_dim, out_dim}, {.accumulate = options.dx_so_far.is_defined()});
  }
  if (!options.wants_dweight && !options.wants_dbias) return gradients;
  // The sums of the rows of dy^T come with this product.
  gradients.dweight = Tensor::empty(weight.shape());
  if (options.wants_dbias) gradients.dbias = Tensor::zeros({out_dim});
  parallel_gemm({gradients.dweight.data(), in_dim}, {dy.data(), out_dim, /*transposed=*/true},
                {x.data(), in_dim}, {out_dim, in_dim, rows},
                {.row_sums = options.wants_dbias ? gradients.dbias.data() : nullptr});
  if (!options.wants_dweight) gradients.dweight = Tensor();
  return gradients;
}

}  // namespace

LinearGradients linear_backward(const Tensor& dy, const Tensor& x, const Tensor& weight,
                                const LinearBackwardOptions& options) {
  const bool is_worth_groups =
      weight.size() <= largest_small_weight && x.dim(0) >= num_groups * chunk_rows / 2;
  return is_worth_groups ? in_one_pass(dy, x, weight, options) : one_by_one(dy, x, weight, options);
}

}  // namespace heed::ops
