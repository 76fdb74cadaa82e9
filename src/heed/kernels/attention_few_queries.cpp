#include "heed/kernels/attention_few_queries.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <cmath>

#include "heed/base/index.h"
#include "heed/kernels/cache_line.h"
#include "heed/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention_few_queries.cpp"
#include <hwy/foreach_target.h>

#include "heed/kernels/dispatch_rows-inl.h"
#include "heed/kernels/distance_bias-inl.h"
#include "heed/kernels/math-inl.h"
#include "heed/kernels/online_softmax-inl.h"
#include "heed/kernels/transpose-inl.h"

#ifndef HEED_KERNELS_ATTENTION_FEW_QUERIES_ONCE
#define HEED_KERNELS_ATTENTION_FEW_QUERIES_ONCE
namespace heed::kernels {

constexpr int max_few_queries = 6;
constexpr Index max_few_dim = 256;  // KC: the scores of `attention` sum longer rows in two parts
constexpr Index keys_ahead = 4 * attention_page_rows;

}  // namespace heed::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// A vector of keys lies in one page, and a block of them is whole pages.
static_assert(attention_page_rows % hn::MaxLanes(FloatTag()) == 0 &&
              attention_key_block % attention_page_rows == 0);

// Scores of as many keys as a vector has lanes, the last key again where there are fewer. One chain
// over the width for every query and key. Meanwhile `to_prefetch` is prefetched: as much memory as
// the keys take, for each of the two unless null.
template <int queries>
HWY_INLINE void ScoreKeys(float* scores, RowsView query, RowsView key, Index keys, Index dim,
                          FloatVec scale, [[maybe_unused]] const float* const (&to_prefetch)[2]) {
  const FloatTag d;
  const Index lanes = hn::Lanes(d);
  const float* rows[HWY_MAX_BYTES / sizeof(float)];
  for (Index j = 0; j < lanes; ++j) {
    rows[j] = key.data + std::min(j, keys - 1) * key.stride;
  }
  FloatVec sum[queries];
  for (int q = 0; q < queries; ++q) sum[q] = hn::Zero(d);
  Index i = 0;
#if HWY_TARGET != HWY_SCALAR
  for (; i + 4 <= dim; i += 4) {
    for (const float* from : to_prefetch) {
      if (from == nullptr) continue;
      for (Index j = 0; j < 4 * lanes; j += line_floats) hwy::Prefetch(from + i * lanes + j);
    }
    FloatVec column[4];
    TransposeFours([&rows, i](int r) HWY_ATTR { return rows[r] + i; }, column);
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) {
#pragma GCC unroll 8
      for (int q = 0; q < queries; ++q) {
        const auto factor = hn::Set(d, query.data[q * query.stride + i + c]);
        sum[q] = hn::MulAdd(factor, column[c], sum[q]);
      }
    }
  }
#endif
  for (; i < dim; ++i) {
    HWY_ALIGN float column[HWY_MAX_BYTES / sizeof(float)];
    for (Index j = 0; j < lanes; ++j) column[j] = rows[j][i];
    for (int q = 0; q < queries; ++q) {
      const auto factor = hn::Set(d, query.data[q * query.stride + i]);
      sum[q] = hn::MulAdd(factor, hn::Load(d, column), sum[q]);
    }
  }
  for (int q = 0; q < queries; ++q) {
    hn::Store(hn::Mul(sum[q], scale), d, scores + q * attention_key_block);
  }
}

// Minus infinity after the keys, up to a whole vector.
HWY_INLINE void PadScores(float* row, Index keys) {
  for (Index j = keys; j % static_cast<Index>(hn::Lanes(FloatTag())) != 0; ++j) row[j] = -HUGE_VALF;
}

// Is any of the weights 0? Then its value must not be touched: it may be NaN or infinite.
HWY_INLINE bool HasZero(const float* row, Index keys) {
  for (Index j = 0; j < keys; ++j) {
    if (row[j] == 0) return true;
  }
  return false;
}

// mixed = mixed * rescale + weights x values, for so many vectors of columns; of the last vector
// only `left` columns count.
template <int queries, int vectors, bool has_zero>
HWY_INLINE void MixColumns(float* mixed, const float* rescales, const float* weights,
                           PagedRows value, Index keys, Index left) {
  const FloatTag d;
  const Index lanes = hn::Lanes(d);
  FloatVec sum[queries][vectors];
  for (auto& of_query : sum) {
    for (FloatVec& part : of_query) part = hn::Zero(d);
  }
  for (Index j = 0; j < keys;) {
    const float* row = value.row(j);
    for (const Index end = value.end_of_run(j, keys); j < end; ++j, row += value.stride) {
#pragma GCC unroll 4
      for (int part = 0; part < vectors; ++part) {
        const float* from = row + part * lanes;
        const bool is_whole = part + 1 < vectors || left == lanes;
        const auto v =
            is_whole ? hn::LoadU(d, from) : LoadPart(d, from, static_cast<std::size_t>(left));
#pragma GCC unroll 8
        for (int q = 0; q < queries; ++q) {
          const float weight = weights[q * attention_key_block + j];
          if (has_zero && weight == 0) continue;  // adds nothing, unless the value is not finite
          sum[q][part] = hn::MulAdd(hn::Set(d, weight), v, sum[q][part]);
        }
      }
    }
  }
  for (int q = 0; q < queries; ++q) {
    const auto rescale = hn::Set(d, rescales[q]);
    for (int part = 0; part < vectors; ++part) {
      float* to = mixed + q * max_few_dim + part * lanes;
      hn::Store(hn::Add(sum[q][part], hn::Mul(hn::Load(d, to), rescale)), d, to);
    }
  }
}

// The same for all columns. As many of them at a time as registers hold sums: a row is read in one
// go, and sums do not wait for each other.
template <int queries, bool has_zero>
HWY_INLINE void MixValues(float* mixed, const float* rescales, const float* weights,
                          PagedRows value, Index keys, Index value_dim) {
  constexpr int vectors = queries <= 2 ? 4 : 2;
  const Index lanes = hn::Lanes(FloatTag()), wide = vectors * lanes;
  Index c = 0;
  for (; c + wide <= value_dim; value.data += wide, c += wide) {
    MixColumns<queries, vectors, has_zero>(mixed + c, rescales, weights, value, keys, lanes);
  }
  for (; c < value_dim; value.data += lanes, c += lanes) {
    MixColumns<queries, 1, has_zero>(mixed + c, rescales, weights, value, keys,
                                     std::min(lanes, value_dim - c));
  }
}

template <int queries>
HWY_INLINE void FewQueries(const AttentionOutput& output, const AttentionInput& input,
                           const AttentionRule& rule) {
  const auto& [query, key, value, sizes] = input;
  const FloatTag d;
  const Index lanes = hn::Lanes(d);
  HWY_ALIGN float weights[queries * attention_key_block];
  HWY_ALIGN float mixed[queries * max_few_dim];
  OnlineSoftmax running[queries];
  for (int q = 0; q < queries; ++q) {
    std::fill_n(mixed + q * max_few_dim, round_up(sizes.value_dim, lanes), 0.0f);
  }
  const bool is_long = sizes.keys > attention_key_block && key.pages != nullptr;
  for (Index from = 0; from < sizes.keys; from += attention_key_block) {
    const Index keys = std::min(attention_key_block, sizes.keys - from);
    const PagedRows block_keys = key.from(from), block_values = value.from(from);
    for (Index j = 0; j < keys; j += lanes) {
      const bool has_more = is_long && from + j + keys_ahead < sizes.keys;
      const float* const to_prefetch[2] = {has_more ? block_keys.row(j + keys_ahead) : nullptr,
                                           is_long ? block_values.row(j) : nullptr};
      ScoreKeys<queries>(weights + j, query, {block_keys.row(j), key.stride}, keys - j,
                         sizes.key_dim, hn::Set(d, rule.scale), to_prefetch);
    }
    float rescales[queries];
    bool has_zero = false;
    for (int q = 0; q < queries; ++q) {
      float* row = weights + q * attention_key_block;
      if (rule.distance_bias) AddDistanceBias(row, q, from, keys, rule);
      PadScores(row, keys);
      rescales[q] = UpdateSoftmax(running[q], row, keys, /*scale=*/1);
      has_zero = has_zero || HasZero(row, keys);
    }
    if (has_zero) {
      MixValues<queries, true>(mixed, rescales, weights, block_values, keys, sizes.value_dim);
    } else {
      MixValues<queries, false>(mixed, rescales, weights, block_values, keys, sizes.value_dim);
    }
  }
  for (int q = 0; q < queries; ++q) {
    FinishSoftmax(output.output.row(q), output.logsumexp.row(q), running[q],
                  mixed + q * max_few_dim, sizes.value_dim);
  }
}

void AttentionFewQueries(const AttentionOutput& output, const AttentionInput& input,
                         const AttentionRule& rule) {
  DispatchRows<max_few_queries>(input.sizes.queries, [&]<int queries>() HEED_INLINE_LAMBDA {
    FewQueries<queries>(output, input, rule);
  });
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(AttentionFewQueries);

bool has_few_queries(const AttentionSizes& sizes, const AttentionRule& rule) noexcept {
  const bool is_scaled_only = rule.softcap == 0 && rule.alibi_slope == 0 && !rule.dense &&
                              !rule.has_dropout && rule.window == 0;
  const bool sees_all = !rule.is_causal || rule.past + 1 >= sizes.keys;  // even the first query
  return is_scaled_only && sees_all && sizes.queries >= 1 && sizes.queries <= max_few_queries &&
         sizes.key_dim <= max_few_dim && sizes.value_dim <= max_few_dim;
}

void prefetch_few_queries(const PagedRows& key, const PagedRows& value,
                          const AttentionSizes& sizes) noexcept {
  if (sizes.keys > attention_key_block) return;
  // Into L1, as these rows are read next; prefetch_rows would leave them in L2.
  for (Index j = 0; j < sizes.keys; ++j) {
    const float *keys = key.row(j), *values = value.row(j);
    for (Index i = 0; i < sizes.key_dim; i += line_floats) hwy::Prefetch(keys + i);
    for (Index i = 0; i < sizes.value_dim; i += line_floats) hwy::Prefetch(values + i);
  }
}

void attention_few_queries(const AttentionOutput& output, const AttentionInput& input,
                           const AttentionRule& rule) noexcept {
  HWY_DYNAMIC_DISPATCH(AttentionFewQueries)(output, input, rule);
}

}  // namespace heed::kernels
#endif
