// Attention of one sequence and one head: blocked, with the softmax computed as the blocks come.
//
// Keys are taken in blocks counted from the sequence's first key, and every score is a chain of its
// own. So a query's result does not depend on which other queries are computed with it, nor on keys
// behind the ones it may see.
#pragma once

#include <algorithm>
#include <cstdint>

#include "heed/kernels/cache_line.h"
#include "heed/kernels/elementwise.h"

namespace heed::kernels {

// How scores come about, and which cells count. Query i stands at place i + past among the keys.
struct AttentionRule {
  float scale = 1;
  float softcap = 0;      // c > 0: c * tanh(score / c)
  float alibi_slope = 0;  // subtracts slope * |place - key|
  bool is_causal = false;
  std::int64_t window = 0;  // > 0: only keys with |place - key| < window
  std::int64_t past = 0;
  const float* dense = nullptr;  // [queries, keys] added to the scores, or null
  std::int64_t dense_stride = 0;
  bool has_dropout = false;
  DropoutRule dropout{};               // of the weights; each query has a key of its own, made from
  std::int64_t first_dropout_row = 0;  // this number + query * dropout_row_step
  std::int64_t dropout_row_step = 0;
};

// Rows of one head: row i begins at data + i * stride.
struct HeadRows {
  const float* data;
  std::int64_t stride;
};
struct HeadRowsOut {
  float* data;
  std::int64_t stride;
};

// The rows of a key/value cache lie in pages of so many, a multiple of the lanes of any vector.
// With 16 and with 32 the times were the same within their noise (1,000 lines of Multi30k, beam 5:
// 3.0 and 3.1 s, beam 1: 0.86 and 0.87 s at best, on two cores); small pages copy and waste less.
inline constexpr std::int64_t attention_page_rows = 16;

// Rows of one head that lie in pages, in any order: row i is row i % attention_page_rows of page
// pages[i / attention_page_rows]. Without a list of pages they lie one behind another.
struct PagedRows {
  PagedRows(HeadRows rows) : data(rows.data), stride(rows.stride) {}
  PagedRows(const float* data, std::int64_t stride, std::int64_t page_stride,
            const std::int64_t* pages)
      : data(data), stride(stride), page_stride(page_stride), pages(pages) {}

  const float* row(std::int64_t i) const {
    if (pages == nullptr) return data + i * stride;
    return data + pages[i / attention_page_rows] * page_stride + i % attention_page_rows * stride;
  }
  // The rows from a first one on, which begins a page.
  PagedRows from(std::int64_t first) const {
    if (pages == nullptr) return HeadRows{data + first * stride, stride};
    return {data, stride, page_stride, pages + first / attention_page_rows};
  }
  // Where those end, among `count`, that lie right behind row i, which begins a page.
  std::int64_t end_of_run(std::int64_t i, std::int64_t count) const {
    const bool is_cut = pages != nullptr && i + attention_page_rows < count;
    return is_cut ? i + attention_page_rows : count;
  }

  const float* data;
  std::int64_t stride;
  std::int64_t page_stride = 0;
  const std::int64_t* pages = nullptr;
};

// Asks for rows [first, last), as far as there are that many, long before they are read: rows of
// one head are so far apart that the processor does not read them ahead by itself.
inline void ask_for_rows(const PagedRows& rows, std::int64_t first, std::int64_t last,
                         std::int64_t count, std::int64_t width) {
  for (std::int64_t i = first; i < std::min(last, count); ++i) {
    for (std::int64_t j = 0; j < width; j += line_floats) ask_for_line(rows.row(i) + j);
  }
}

struct AttentionSizes {
  std::int64_t queries, keys;
  std::int64_t key_dim, value_dim;
};

// What a watcher asked for: [queries, keys] or [queries] each, null where not.
struct AttentionRecord {
  float* scores = nullptr;
  float* capped = nullptr;
  float* masked = nullptr;
  float* weights = nullptr;
  float* maxima = nullptr;
  float* sums = nullptr;
};

// Scores join the softmax in blocks of so many keys: whole pages.
inline constexpr std::int64_t attention_key_block = 128;

// Floats of working memory that either function needs, whatever the lengths. Aligned to 64 bytes.
std::int64_t attention_workspace(std::int64_t key_dim, std::int64_t value_dim) noexcept;

// Queries that one call takes at the most.
inline constexpr std::int64_t attention_max_queries = 384;

// output = weights x value for queries [first, last), and log_sum: for each query the logarithm of
// the sum of e^score, minus infinity if it sees nothing (then its output is zero).
void attention(HeadRowsOut output, HeadRowsOut log_sum, HeadRows query, PagedRows key,
               PagedRows value, const AttentionSizes& sizes, const AttentionRule& rule,
               std::int64_t first, std::int64_t last, const AttentionRecord* record,
               float* workspace) noexcept;

// deltas = the dot product of each query's doutput and output: all that the way back needs of the
// output.
void attention_deltas(HeadRowsOut deltas, HeadRows doutput, HeadRows output, std::int64_t queries,
                      std::int64_t value_dim) noexcept;

// Sets dquery, dkey and dvalue, for all queries and keys of the sequence; or adds to the latter two
// with accumulate.
void attention_backward(HeadRowsOut dquery, HeadRowsOut dkey, HeadRowsOut dvalue, bool accumulate,
                        HeadRows doutput, HeadRows deltas, HeadRows log_sum, HeadRows query,
                        HeadRows key, HeadRows value, const AttentionSizes& sizes,
                        const AttentionRule& rule, float* workspace) noexcept;

}  // namespace heed::kernels
