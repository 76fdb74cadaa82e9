// Attention of one sequence and one head: blocked, with an online softmax over the blocks of keys.
//
// Keys are taken in blocks counted from the sequence's first key, and every score is a chain of its
// own. So a query's result does not depend on which other queries are computed with it, nor on keys
// after the ones it may see.
#pragma once

#include <algorithm>
#include <cassert>

#include "heed/base/index.h"
#include "heed/kernels/cache_line.h"
#include "heed/kernels/elementwise.h"
#include "heed/kernels/matrix_view.h"

namespace heed::kernels {

// The terms of the scores, and the cells that count. Query i is at position i + past among the
// keys.
struct AttentionRule {
  float scale = 1;
  float softcap = 0;      // c > 0: c * tanh(score / c)
  float alibi_slope = 0;  // subtracts slope * |position - key|
  // [2 max_distance + 1], or null: adds the number at max_distance + (key - position), the first or
  // the last one beyond.
  const float* distance_bias = nullptr;
  Index max_distance = 0;
  bool is_causal = false;
  Index window = 0;  // > 0: only keys with |position - key| < window
  Index past = 0;
  const float* dense = nullptr;  // [queries, keys] added to the scores, or null
  Index dense_stride = 0;
  bool has_dropout = false;
  DropoutRule dropout{};        // of the weights; each query has a key of its own, made from
  Index first_dropout_row = 0;  // this number + query * dropout_row_step
  Index dropout_row_step = 0;
};

// Rows of a page of a KV cache, a multiple of the lanes of any vector.
// With 16 and with 32 the times were the same within their noise (1,000 lines of Multi30k, beam 5:
// 3.0 and 3.1 s, beam 1: 0.86 and 0.87 s at best, on two cores); small pages copy and waste less.
inline constexpr Index attention_page_rows = 16;

// Rows of one head in pages, in any order: row i is row i % attention_page_rows of page
// pages[i / attention_page_rows]. Without a list of pages they are consecutive.
struct PagedRows {
  PagedRows(RowsView rows) : data(rows.data), stride(rows.stride) {}
  PagedRows(const float* data, Index stride, Index page_stride, const Index* pages)
      : data(data), stride(stride), page_stride(page_stride), pages(pages) {}

  const float* row(Index i) const {
    if (pages == nullptr) return data + i * stride;
    return data + pages[i / attention_page_rows] * page_stride + i % attention_page_rows * stride;
  }
  // The rows from a first one on, which begins a page.
  PagedRows from(Index first) const {
    if (pages == nullptr) return RowsView{data + first * stride, stride};
    return {data, stride, page_stride, pages + first / attention_page_rows};
  }
  // The end of the consecutive rows from row i on, which begins a page, among `count`.
  Index end_of_run(Index i, Index count) const {
    const bool is_cut = pages != nullptr && i + attention_page_rows < count;
    return is_cut ? i + attention_page_rows : count;
  }

  // For rows without pages.
  RowsView consecutive() const {
    assert(pages == nullptr);
    return {data, stride};
  }

  const float* data;
  Index stride;
  Index page_stride = 0;
  const Index* pages = nullptr;
};

// Prefetches rows [first, last), as far as there are that many, long before they are read: rows of
// one head are so far apart that the hardware prefetcher does not follow them.
inline void prefetch_rows(const PagedRows& rows, Index first, Index last, Index count,
                          Index width) {
  for (Index i = first; i < std::min(last, count); ++i) {
    for (Index j = 0; j < width; j += line_floats) prefetch_line(rows.row(i) + j);
  }
}

struct AttentionSizes {
  Index queries, keys;
  Index key_dim, value_dim;
};

struct AttentionInput {
  RowsView query;
  PagedRows key, value;
  AttentionSizes sizes;
};

struct AttentionOutput {
  RowsOut output;     // weights x value
  RowsOut logsumexp;  // of each query's scores; minus infinity if it sees nothing
};

// Intermediate results to store: [queries, keys] or [queries] each, null where not wanted. The
// weights are made of the masked scores, and need them stored too.
struct AttentionRecord {
  float* scores = nullptr;
  float* capped = nullptr;
  float* masked = nullptr;
  float* weights = nullptr;
  float* maxima = nullptr;
  float* sums = nullptr;
};

// Keys of one update of the online softmax: whole pages.
inline constexpr Index attention_key_block = 128;

// The largest number of queries of one call.
inline constexpr Index attention_max_queries = 384;

// Queries [first, last).
struct QueryRange {
  Index first, last;
};

// Floats of scratch memory that forward and backward need, whatever the lengths. Aligned to 64
// bytes.
Index attention_workspace(Index key_dim, Index value_dim) noexcept;

// The output of a range of queries. A query that sees nothing gives zeros.
void attention(const AttentionOutput& output, const AttentionInput& input,
               const AttentionRule& rule, const QueryRange& queries, const AttentionRecord* record,
               float* workspace) noexcept;

// deltas = the dot product of each query's doutput and output: all that the backward needs of the
// output.
void attention_deltas(RowsOut deltas, RowsView doutput, RowsView output, Index queries,
                      Index value_dim) noexcept;

// What the backward needs besides the input.
struct AttentionSaved {
  RowsView doutput;
  RowsView deltas;
  RowsView logsumexp;
};

struct AttentionGradients {
  RowsOut dquery, dkey, dvalue;
  bool accumulate = false;          // add to dkey and dvalue, which other query heads share
  float* ddistance_bias = nullptr;  // [2 max_distance + 1]: times the rule's scale, is added to it
};

// Sets the gradients for all queries and keys of the sequence, which are not in pages.
void attention_backward(const AttentionGradients& gradients, const AttentionInput& input,
                        const AttentionSaved& saved, const AttentionRule& rule,
                        float* workspace) noexcept;

}  // namespace heed::kernels
