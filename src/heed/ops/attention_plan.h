// The plan of one call of `attention`: operands for the kernels, and pieces of work for the
// threads.
#pragma once

#include <vector>

#include "heed/base/parallel.h"
#include "heed/core/storage.h"
#include "heed/kernels/attention.h"
#include "heed/ops/attention.h"
#include "heed/ops/attention_checks.h"

namespace heed::ops {

// Everything that the kernels need, forward and backward. Heads are side by side in the columns of
// a tensor [rows, heads * width], where `width` is that of one head.
struct AttentionPlan {
  Packed query, key;
  Tensor value;
  AttentionSizes sizes;
  AttentionMask mask;
  AttentionOptions options;
  float scale;
  const PagedKeys* paged = nullptr;       // set: the rows of the key's spans are in its pages
  Tensor logsumexp = {};                  // [N, H], of the forward
  std::vector<float> distance_bias = {};  // [H, 2 R + 1]: the mask's, head by head

  Index num_distances() const { return std::ssize(distance_bias) / sizes.heads; }

  kernels::AttentionRule rule(Index sequence, Index head) const;
  kernels::AttentionSizes sizes_of(Index sequence) const;
  kernels::AttentionInput input(Index sequence, Index head) const;

  // Rows of one sequence and head of a tensor like the query, or like the key and its pages.
  kernels::RowsView query_rows(const Tensor& x, Index sequence, Index head, Index width) const;
  kernels::RowsOut query_rows_out(Tensor& x, Index sequence, Index head, Index width) const;
  kernels::PagedRows key_rows(const Tensor& x, Index sequence, Index group, Index width) const;
  kernels::RowsOut key_rows_out(Tensor& x, Index sequence, Index group, Index width) const;
};

// Query and key of dot products: unit vectors for cosines. Refuses a dense mask that is too small.
AttentionPlan make_plan(const Packed& query, const Packed& key, const Tensor& value,
                        const AttentionSizes& sizes, const AttentionMask& mask,
                        const AttentionOptions& options);

// Queries of one sequence and head.
struct AttentionPiece {
  Index sequence, head;
  kernels::QueryRange queries;
};

// One piece per sequence and head, and per so many queries of a long sequence.
std::vector<AttentionPiece> forward_pieces(const AttentionPlan& plan);

// Pieces of short sequences are little work: a thread takes ranges of them, each of a minimum of
// multiply-adds. A function of the sizes only, so that the ranges do not depend on the number of
// threads.
Index pieces_per_range(const AttentionPlan& plan, Index num_pieces);

// Calls work(number, workspace) for every piece. The pieces of a range share one workspace.
template <typename Work>
void parallel_pieces(const AttentionPlan& plan, Index num_pieces, Work work) {
  parallel_ranges(num_pieces, pieces_per_range(plan, num_pieces), [&](Index begin, Index end) {
    const auto workspace =
        allocate_floats(kernels::attention_workspace(plan.sizes.key_dim, plan.sizes.value_dim));
    for (Index number = begin; number < end; ++number) work(number, workspace.get());
  });
}

}  // namespace heed::ops
