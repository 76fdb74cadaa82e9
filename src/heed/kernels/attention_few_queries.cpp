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

#include "heed/kernels/math-inl.h"
#include "heed/kernels/transpose-inl.h"

#ifndef HEED_KERNELS_ATTENTION_FEW_QUERIES_ONCE
#define HEED_KERNELS_ATTENTION_FEW_QUERIES_ONCE
namespace heed::kernels {

constexpr std::int64_t max_few_queries = 6;
constexpr std::int64_t max_few_dim = 256;  // longer sums are cut in two by the matrix product
constexpr std::int64_t keys_ahead = 4 * attention_page_rows;

}  // namespace heed::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// A vector of keys lies in one page, and a block of them is whole pages.
static_assert(attention_page_rows % hn::MaxLanes(FloatTag()) == 0 &&
              attention_key_block % attention_page_rows == 0);

// Scores of as many keys as a vector has lanes, the last key again where there are fewer. One chain
// over the width for every query and key. Meanwhile `soon` is asked for: as much memory as the keys
// take, for each of the two unless null.
template <int queries>
HWY_INLINE void ScoreKeys(float* scores, HeadRows query, HeadRows key, std::int64_t keys,
                          std::int64_t dim, FloatVec scale,
                          [[maybe_unused]] const float* const (&soon)[2]) {
  const FloatTag d;
  const std::int64_t lanes = hn::Lanes(d);
  const float* rows[HWY_MAX_BYTES / sizeof(float)];
  for (std::int64_t j = 0; j < lanes; ++j) {
    rows[j] = key.data + std::min(j, keys - 1) * key.stride;
  }
  FloatVec sum[queries];
  for (int q = 0; q < queries; ++q) sum[q] = hn::Zero(d);
  std::int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  for (; i + 4 <= dim; i += 4) {
    for (const float* from : soon) {
      if (from == nullptr) continue;
      for (std::int64_t j = 0; j < 4 * lanes; j += line_floats) hwy::Prefetch(from + i * lanes + j);
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
    for (std::int64_t j = 0; j < lanes; ++j) column[j] = rows[j][i];
    for (int q = 0; q < queries; ++q) {
      const auto factor = hn::Set(d, query.data[q * query.stride + i]);
      sum[q] = hn::MulAdd(factor, hn::Load(d, column), sum[q]);
    }
  }
  for (int q = 0; q < queries; ++q) {
    hn::Store(hn::Mul(sum[q], scale), d, scores + q * attention_key_block);
  }
}

// The softmax of one query so far.
struct FewRunning {
  float most = -HUGE_VALF;
  float sum = 0;
};

// row = e^(row - most) and its sum joins; returns by what the sum and the output so far shrink.
// Rows have room for whole vectors; what lies behind the keys becomes 0.
HWY_INLINE float JoinRow(float* row, std::int64_t keys, FewRunning& running) {
  const FloatTag d;
  const std::int64_t lanes = hn::Lanes(d);
  const float now = std::max(running.most, MaxOf(row, keys));
  if (now == -HUGE_VALF) {
    if (!AllMasked(row, keys)) running.most = running.sum = NAN;
    std::fill(row, row + keys, 0.0f);
    return 1;
  }
  float shrink = 1;
  if (now != running.most) {
    shrink = running.most == -HUGE_VALF ? 0.0f : std::exp(running.most - now);
    running.sum *= shrink;
    running.most = now;
  }
  for (std::int64_t j = keys; j % lanes != 0; ++j) row[j] = -HUGE_VALF;
  const auto shift = hn::Set(d, now);
  auto sum = hn::Zero(d);
  for (std::int64_t j = 0; j < keys; j += lanes) {
    const auto e = ExpNegative(d, hn::Sub(hn::Load(d, row + j), shift));
    hn::Store(e, d, row + j);
    sum = hn::Add(sum, e);
  }
  running.sum += Sum(d, sum);
  return shrink;
}

// Is any of the weights 0? Then its value must not be touched: it may be NaN or infinite.
HWY_INLINE bool HasZero(const float* row, std::int64_t keys) {
  for (std::int64_t j = 0; j < keys; ++j) {
    if (row[j] == 0) return true;
  }
  return false;
}

// mixed = mixed * shrink + weights x values, for so many vectors of columns; of the last vector
// only `left` columns count.
template <int queries, int vectors, bool has_zero>
HWY_INLINE void MixColumns(float* mixed, const float* shrinks, const float* weights,
                           PagedRows value, std::int64_t keys, std::int64_t left) {
  const FloatTag d;
  const std::int64_t lanes = hn::Lanes(d);
  FloatVec sum[queries][vectors];
  for (auto& of_query : sum) {
    for (FloatVec& part : of_query) part = hn::Zero(d);
  }
  for (std::int64_t j = 0; j < keys;) {
    const float* row = value.row(j);
    for (const std::int64_t end = value.end_of_run(j, keys); j < end; ++j, row += value.stride) {
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
    const auto shrink = hn::Set(d, shrinks[q]);
    for (int part = 0; part < vectors; ++part) {
      float* to = mixed + q * max_few_dim + part * lanes;
      hn::Store(hn::Add(sum[q][part], hn::Mul(hn::Load(d, to), shrink)), d, to);
    }
  }
}

// The same for all columns. As many of them at a time as registers hold sums: a row is read in one
// go, and sums do not wait for each other.
template <int queries, bool has_zero>
HWY_INLINE void MixValues(float* mixed, const float* shrinks, const float* weights, PagedRows value,
                          std::int64_t keys, std::int64_t value_dim) {
  constexpr int vectors = queries <= 2 ? 4 : 2;
  const std::int64_t lanes = hn::Lanes(FloatTag()), wide = vectors * lanes;
  std::int64_t c = 0;
  for (; c + wide <= value_dim; value.data += wide, c += wide) {
    MixColumns<queries, vectors, has_zero>(mixed + c, shrinks, weights, value, keys, lanes);
  }
  for (; c < value_dim; value.data += lanes, c += lanes) {
    MixColumns<queries, 1, has_zero>(mixed + c, shrinks, weights, value, keys,
                                     std::min(lanes, value_dim - c));
  }
}

template <int queries>
HWY_INLINE void FewQueries(HeadRowsOut output, HeadRowsOut log_sum, HeadRows query, PagedRows key,
                           PagedRows value, const AttentionSizes& sizes, float scale) {
  const FloatTag d;
  const std::int64_t lanes = hn::Lanes(d);
  const std::int64_t mixed_dim = rounded_up(sizes.value_dim, lanes);
  HWY_ALIGN float weights[queries * attention_key_block];
  HWY_ALIGN float mixed[queries * max_few_dim];
  FewRunning running[queries];
  for (int q = 0; q < queries; ++q) {
    std::fill(mixed + q * max_few_dim, mixed + q * max_few_dim + mixed_dim, 0.0f);
  }
  const bool is_long = sizes.keys > attention_key_block && key.pages != nullptr;
  for (std::int64_t from = 0; from < sizes.keys; from += attention_key_block) {
    const std::int64_t keys = std::min(attention_key_block, sizes.keys - from);
    const PagedRows block_keys = key.from(from), block_values = value.from(from);
    for (std::int64_t j = 0; j < keys; j += lanes) {
      const bool has_soon = is_long && from + j + keys_ahead < sizes.keys;
      const float* const soon[2] = {has_soon ? block_keys.row(j + keys_ahead) : nullptr,
                                    is_long ? block_values.row(j) : nullptr};
      ScoreKeys<queries>(weights + j, query, {block_keys.row(j), key.stride}, keys - j,
                         sizes.key_dim, hn::Set(d, scale), soon);
    }
    float shrinks[queries];
    bool has_zero = false;
    for (int q = 0; q < queries; ++q) {
      float* row = weights + q * attention_key_block;
      shrinks[q] = JoinRow(row, keys, running[q]);
      has_zero = has_zero || HasZero(row, keys);
    }
    if (has_zero) {
      MixValues<queries, true>(mixed, shrinks, weights, block_values, keys, sizes.value_dim);
    } else {
      MixValues<queries, false>(mixed, shrinks, weights, block_values, keys, sizes.value_dim);
    }
  }
  for (int q = 0; q < queries; ++q) {
    const auto [most, sum] = running[q];
    const bool sees_nothing = most == -HUGE_VALF;
    log_sum.data[q * log_sum.stride] = sees_nothing ? -HUGE_VALF : most + std::log(sum);
    const auto factor = hn::Set(d, sees_nothing ? 0.0f : 1 / sum);
    Map(output.data + q * output.stride, mixed + q * max_few_dim, sizes.value_dim,
        [factor](auto v) HWY_ATTR { return hn::Mul(v, factor); });
  }
}

void AttentionFewQueries(HeadRowsOut output, HeadRowsOut log_sum, HeadRows query, PagedRows key,
                         PagedRows value, const AttentionSizes& sizes, float scale) {
  switch (sizes.queries) {
    case 1:
      return FewQueries<1>(output, log_sum, query, key, value, sizes, scale);
    case 2:
      return FewQueries<2>(output, log_sum, query, key, value, sizes, scale);
    case 3:
      return FewQueries<3>(output, log_sum, query, key, value, sizes, scale);
    case 4:
      return FewQueries<4>(output, log_sum, query, key, value, sizes, scale);
    case 5:
      return FewQueries<5>(output, log_sum, query, key, value, sizes, scale);
    default:
      return FewQueries<6>(output, log_sum, query, key, value, sizes, scale);
  }
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

void prefetch_few_queries(PagedRows key, PagedRows value, const AttentionSizes& sizes) noexcept {
  if (sizes.keys > attention_key_block) return;
  for (std::int64_t j = 0; j < sizes.keys; ++j) {
    const float *keys = key.row(j), *values = value.row(j);
    for (std::int64_t i = 0; i < sizes.key_dim; i += line_floats) hwy::Prefetch(keys + i);
    for (std::int64_t i = 0; i < sizes.value_dim; i += line_floats) hwy::Prefetch(values + i);
  }
}

void attention_few_queries(HeadRowsOut output, HeadRowsOut log_sum, HeadRows query, PagedRows key,
                           PagedRows value, const AttentionSizes& sizes, float scale) noexcept {
  HWY_DYNAMIC_DISPATCH(AttentionFewQueries)(output, log_sum, query, key, value, sizes, scale);
}

}  // namespace heed::kernels
#endif
