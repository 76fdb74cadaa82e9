#include "heed/kernels/attention.h"

#include <cmath>

#include "heed/base/index.h"
#include "heed/base/random.h"
#include "heed/kernels/cache_line.h"
#include "heed/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention.cpp"
#include <hwy/foreach_target.h>

#include "heed/kernels/gemm-inl.h"
#include "heed/kernels/math-inl.h"

#ifndef HEED_KERNELS_ATTENTION_ONCE
#define HEED_KERNELS_ATTENTION_ONCE
namespace heed::kernels {

// Queries and keys whose scores are held at a time. Long rows make long sums, for which a register
// block is set up less often; queries are whole register blocks of 6 rows. The scores stay in the
// first-level cache; on the way back, where both sides are summed over, in the second-level one,
// and are made in parts that the first-level cache holds.
struct BlockSize {
  std::int64_t queries, keys;
};
constexpr BlockSize forward_block{24, attention_key_block};
constexpr BlockSize backward_block{96, 192};
constexpr std::int64_t backward_part = 24;  // queries

// Between rows of scores on the way back, which are read by columns too: an odd number of cache
// lines, so that a column does not fall on a few sets of the cache.
constexpr std::int64_t backward_stride = backward_block.keys + 16;

inline std::int64_t padded(std::int64_t width) { return rounded_up(width, 32); }

// The keys that a query may see by its place alone: [first, last).
struct KeyRange {
  std::int64_t first, last;
};

inline KeyRange visible_keys(const AttentionRule& rule, std::int64_t query, std::int64_t keys) {
  const std::int64_t place = query + rule.past;
  std::int64_t first = 0, last = keys;
  if (rule.is_causal) last = std::min(last, place + 1);
  if (rule.window > 0) {
    first = std::max(first, place - rule.window + 1);
    last = std::min(last, place + rule.window);
  }
  return {std::min(first, keys), std::max(last, std::int64_t{0})};
}

// The keys that any query of [first, last) may see. Both ends move forward with the query.
inline KeyRange visible_keys(const AttentionRule& rule, std::int64_t first, std::int64_t last,
                             std::int64_t keys) {
  return {visible_keys(rule, first, keys).first, visible_keys(rule, last - 1, keys).last};
}

}  // namespace heed::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// The second factor b of a product, in panels or in rows, with a note whether all of it is finite.
// Zeros of the other factor stand for masked cells: they must not meet NaN or infinity, which they
// would turn into NaN.
struct Factor {
  const float* data;
  std::int64_t row_stride;  // in rows; 0: in panels
  bool is_finite;
};

// Are all vectors that it saw finite? Sizes are in the order of their bits, infinity and NaN behind
// all others.
class FiniteCheck {
 public:
  HWY_INLINE FiniteCheck() : largest_(hn::Zero(SignedTag())) {}
  HWY_INLINE void see(FloatVec v) {
    largest_ = hn::Max(largest_, hn::BitCast(SignedTag(), hn::Abs(v)));
  }
  HWY_INLINE bool holds() const {
    const auto infinity = hn::BitCast(SignedTag(), hn::Set(FloatTag(), HUGE_VALF));
    return hn::AllTrue(SignedTag(), hn::Lt(largest_, infinity));
  }

 private:
  using SignedTag = hn::RebindToSigned<FloatTag>;
  hn::Vec<SignedTag> largest_;
};

// Of whole vectors.
HWY_INLINE bool AllFinite(const float* x, std::int64_t count) {
  const FloatTag d;
  FiniteCheck finite;
  for (std::int64_t i = 0; i < count; i += hn::Lanes(d)) finite.see(hn::Load(d, x + i));
  return finite.holds();
}

// The rows as a factor [rows, width].
HWY_INLINE Factor PackRows(float* panels, HeadRows rows, std::int64_t count, std::int64_t width) {
  PackPanels(panels, rows.data, rows.stride, 1, width, count);
  return {panels, 0, AllFinite(panels, rounded_up(width, PanelWidth()) * count)};
}

// The rows one after another, zeros behind each: heads lie side by side in a tensor, and rows of
// one head are often so far apart that they fall on the same few sets of the cache. So they are a
// factor [rows, width].
HWY_INLINE Factor GatherRows(float* target, PagedRows rows, std::int64_t count,
                             std::int64_t width) {
  const FloatTag d;
  const std::int64_t lanes = hn::Lanes(d), stride = padded(width), whole = width / lanes * lanes;
  FiniteCheck finite;
  for (std::int64_t i = 0; i < count; ++i) {
    const float* from = rows.row(i);
    float* to = target + i * stride;
    for (std::int64_t j = 0; j < whole; j += lanes) {
      const auto v = hn::LoadU(d, from + j);
      finite.see(v);
      hn::Store(v, d, to + j);
    }
    for (std::int64_t j = whole; j < stride; ++j) to[j] = j < width ? from[j] : 0;
    if (whole < width) finite.see(hn::Load(d, to + whole));
  }
  return {target, stride, finite.holds()};
}

// The rows one behind another: where they lie, unless they lie in pages.
HWY_INLINE HeadRows WithoutPages(float* target, PagedRows rows, std::int64_t count,
                                 std::int64_t width) {
  if (rows.pages == nullptr) return {rows.data, rows.stride};
  const Factor gathered = GatherRows(target, rows, count, width);
  return {gathered.data, gathered.row_stride};
}

// The rows as a factor [width, rows].
HWY_INLINE void PackColumns(float* panels, HeadRows rows, std::int64_t count, std::int64_t width) {
  PackPanels(panels, rows.data, 1, rows.stride, count, width);
}

// c [m, n] = a [m, k] x b, or += with accumulate. Where b is not finite, zeros of a skip their row
// of b; the bits are the same as for a finite b, because adding 0 * b changes nothing.
HWY_INLINE void Multiply(float* c, std::int64_t c_stride, const float* a, std::int64_t a_row,
                         std::int64_t a_col, const Factor& b, std::int64_t m, std::int64_t n,
                         std::int64_t k, bool accumulate) {
  const bool is_packed = b.row_stride == 0;
  if (b.is_finite && is_packed)
    return GemmPanels(c, c_stride, a, a_row, a_col, b.data, m, n, k, accumulate, nullptr);
  if (b.is_finite)
    return GemmRowsOfB(c, c_stride, a, a_row, a_col, b.data, b.row_stride, m, n, k, accumulate);
  const std::int64_t width = PanelWidth();
  const std::int64_t row_stride = is_packed ? width : b.row_stride;
  const std::int64_t panel_step = is_packed ? width * k : width;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const float* column = b.data + j / width * panel_step + j % width;
      float sum = 0;
      for (std::int64_t l = 0; l < k; ++l) {
        const float factor = a[i * a_row + l * a_col];
        if (factor != 0) sum = std::fma(factor, column[l * row_stride], sum);
      }
      c[i * c_stride + j] = accumulate ? c[i * c_stride + j] + sum : sum;
    }
  }
}

HWY_INLINE FloatVec Tanh(FloatVec x) {
  // 1 - 2 / (e^2x + 1): right at both ends, where e^2x is 0 or infinite.
  const FloatTag d;
  const auto one = hn::Set(d, 1.0f), two = hn::Set(d, 2.0f);
  return hn::Sub(one, hn::Div(two, hn::Add(Exp(d, hn::Mul(x, two)), one)));
}

// Rows of scores [rows, stride] for queries from `first_query` and keys from `first_key`.
struct ScoreBlock {
  float* scores;
  std::int64_t stride;
  std::int64_t first_query, rows, first_key, keys;
  float* row(std::int64_t i) const { return scores + i * stride; }
  // Rows have room for whole vectors. What lies behind the keys is computed too, and never used.
  std::int64_t whole_vectors() const { return rounded_up(keys, hn::Lanes(FloatTag())); }
};

HWY_INLINE void CopyToRecord(const ScoreBlock& block, float* target, std::int64_t all_keys) {
  if (target == nullptr) return;
  for (std::int64_t i = 0; i < block.rows; ++i) {
    float* to = target + (block.first_query + i) * all_keys + block.first_key;
    std::copy(block.row(i), block.row(i) + block.keys, to);
  }
}

// Scores of a watcher or of a rule with more than scale and mask: scaled, capped, with ALiBi and
// the dense mask.
HWY_INLINE void ScaleAndAdd(const ScoreBlock& block, const AttentionRule& rule,
                            std::int64_t all_keys, const AttentionRecord* record) {
  const FloatTag d;
  const auto scale = hn::Set(d, rule.scale);
  for (std::int64_t i = 0; i < block.rows; ++i) {
    Map(block.row(i), block.row(i), block.whole_vectors(),
        [scale](auto v) HWY_ATTR { return hn::Mul(v, scale); });
  }
  if (record) CopyToRecord(block, record->scores, all_keys);
  if (rule.softcap > 0) {
    const auto cap = hn::Set(d, rule.softcap), inverse = hn::Set(d, 1 / rule.softcap);
    for (std::int64_t i = 0; i < block.rows; ++i) {
      Map(block.row(i), block.row(i), block.whole_vectors(),
          [cap, inverse](auto v) HWY_ATTR { return hn::Mul(cap, Tanh(hn::Mul(v, inverse))); });
    }
  }
  if (record) CopyToRecord(block, record->capped, all_keys);
  for (std::int64_t i = 0; i < block.rows; ++i) {
    float* row = block.row(i);
    const std::int64_t query = block.first_query + i;
    if (rule.alibi_slope != 0) {
      for (std::int64_t j = 0; j < block.keys; ++j) {
        const std::int64_t distance = query + rule.past - (block.first_key + j);
        row[j] -= rule.alibi_slope * static_cast<float>(distance < 0 ? -distance : distance);
      }
    }
    if (rule.dense) {
      const float* dense = rule.dense + query * rule.dense_stride + block.first_key;
      // A masked cell holds minus infinity even if its score is NaN.
      for (std::int64_t j = 0; j < block.keys; ++j) {
        row[j] = dense[j] == -HUGE_VALF ? -HUGE_VALF : row[j] + dense[j];
      }
    }
  }
}

// Scores become masked scores, minus infinity where masked. Returns what they are still to be
// multiplied with: where there is nothing but scale and mask, the scale waits for the softmax,
// which saves a pass. The bits are the same, because the largest score has the largest product.
HWY_INLINE float ApplyRule(const ScoreBlock& block, const AttentionRule& rule,
                           std::int64_t all_keys, const AttentionRecord* record) {
  const bool can_wait = record == nullptr && rule.softcap == 0 && rule.alibi_slope == 0 &&
                        rule.dense == nullptr && rule.scale > 0;
  if (!can_wait) ScaleAndAdd(block, rule, all_keys, record);
  for (std::int64_t i = 0; i < block.rows; ++i) {
    float* row = block.row(i);
    const KeyRange seen = visible_keys(rule, block.first_query + i, all_keys);
    for (std::int64_t j = 0; j < std::min(block.keys, seen.first - block.first_key); ++j)
      row[j] = -HUGE_VALF;
    for (std::int64_t j = std::max<std::int64_t>(0, seen.last - block.first_key); j < block.keys;
         ++j)
      row[j] = -HUGE_VALF;
    for (std::int64_t j = block.keys; j < block.whole_vectors(); ++j) row[j] = -HUGE_VALF;
  }
  if (record) CopyToRecord(block, record->masked, all_keys);
  return can_wait ? rule.scale : 1;
}

// Weights that fall away become 0, the others grow.
HWY_INLINE void DropWeights(float* row, std::int64_t query, std::int64_t first_key,
                            std::int64_t keys, const AttentionRule& rule) {
  const std::int64_t number = rule.first_dropout_row + query * rule.dropout_row_step;
  const std::uint64_t key = random_bits(rule.dropout.key, static_cast<std::uint64_t>(number));
  const float scale = 65536.0f / (65536.0f - static_cast<float>(rule.dropout.threshold));
  for (std::int64_t j = 0; j < keys; ++j) {
    const std::int64_t element = first_key + j;
    const std::uint64_t bits = random_bits(key, static_cast<std::uint64_t>(element / 4));
    const auto sixteen = static_cast<std::uint32_t>(bits >> (16 * (element % 4))) & 0xffffu;
    row[j] = sixteen >= rule.dropout.threshold ? row[j] * scale : 0.0f;
  }
}

// e^(scores * scale - shift), 0 where masked.
HWY_INLINE FloatVec Weights(FloatVec scores, FloatVec scale, FloatVec shift) {
  return ExpNegative(FloatTag(), hn::Sub(hn::Mul(scores, scale), shift));
}

// row = e^(row * scale - shift); returns the sum. `count` is whole vectors.
HWY_INLINE float ExpRow(float* row, std::int64_t count, float scale, float shift) {
  const FloatTag d;
  const auto factor = hn::Set(d, scale), most = hn::Set(d, shift);
  auto sum = hn::Zero(d);
  for (std::int64_t j = 0; j < count; j += hn::Lanes(d)) {
    const auto e = Weights(hn::Load(d, row + j), factor, most);
    hn::Store(e, d, row + j);
    sum = hn::Add(sum, e);
  }
  return Sum(d, sum);
}

HWY_INLINE void ScaleRow(float* row, float factor, std::int64_t count) {
  const auto f = hn::Set(FloatTag(), factor);
  Map(row, row, count, [f](auto v) HWY_ATTR { return hn::Mul(v, f); });
}

// What the softmax knows of each query so far.
struct RunningSoftmax {
  float most[attention_max_queries];
  float sum[attention_max_queries];
};

// One block of scores joins: the running maximum, sum and output are brought up to date, and the
// scores become e^(score * scale - maximum).
HWY_INLINE void JoinBlock(const ScoreBlock& block, float scale, std::int64_t offset,
                          RunningSoftmax& running, float* mixed, std::int64_t mixed_stride,
                          std::int64_t value_dim) {
  for (std::int64_t i = 0; i < block.rows; ++i) {
    float* row = block.row(i);
    float& most = running.most[offset + i];
    float& sum = running.sum[offset + i];
    const float now = std::max(most, MaxOf(row, block.whole_vectors()) * scale);
    if (now == -HUGE_VALF) {
      // Nothing seen yet; or scores of NaN, which no maximum shows and no output may hide.
      if (!AllMasked(row, block.keys)) most = sum = NAN;
      std::fill(row, row + block.keys, 0.0f);
      continue;
    }
    if (now != most) {
      const float shrink = most == -HUGE_VALF ? 0.0f : std::exp(most - now);
      sum *= shrink;
      ScaleRow(mixed + (offset + i) * mixed_stride, shrink, value_dim);
      most = now;
    }
    sum += ExpRow(row, block.whole_vectors(), scale, most);
  }
}

struct ForwardWorkspace {
  float *scores, *keys, *values, *mixed, *queries, *gathered;
  ForwardWorkspace(float* memory, std::int64_t key_dim, std::int64_t value_dim)
      : scores(memory),
        keys(scores + forward_block.queries * forward_block.keys),
        values(keys + forward_block.keys * padded(key_dim)),
        mixed(values + forward_block.keys * padded(value_dim)),
        queries(mixed + attention_max_queries * padded(value_dim)),
        gathered(queries + attention_max_queries * padded(key_dim)) {}
};

HWY_INLINE void WriteWeights(const AttentionRecord& record, const RunningSoftmax& running,
                             std::int64_t first, std::int64_t last, std::int64_t keys) {
  for (std::int64_t query = first; query < last; ++query) {
    float* weights = record.weights + query * keys;
    const float* masked = record.masked + query * keys;
    const float most = running.most[query - first], sum = running.sum[query - first];
    if (most == -HUGE_VALF) {
      std::fill(weights, weights + keys, 0.0f);
      continue;
    }
    const FloatTag d;
    const auto shift = hn::Set(d, most), factor = hn::Set(d, 1 / sum);
    Map(weights, masked, keys, [d, shift, factor](auto v) HWY_ATTR {
      return hn::Mul(ExpNegative(d, hn::Sub(v, shift)), factor);
    });
  }
}

HWY_INLINE void WriteSoftmax(const AttentionRecord& record, const RunningSoftmax& running,
                             std::int64_t first, std::int64_t last, std::int64_t keys) {
  if (record.maxima) std::copy(running.most, running.most + (last - first), record.maxima + first);
  if (record.sums) std::copy(running.sum, running.sum + (last - first), record.sums + first);
  if (record.weights) WriteWeights(record, running, first, last, keys);
}

void Attention(HeadRowsOut output, HeadRowsOut log_sum, HeadRows query, PagedRows key,
               PagedRows value, const AttentionSizes& sizes, const AttentionRule& rule,
               std::int64_t first, std::int64_t last, const AttentionRecord* record,
               float* memory) {
  const ForwardWorkspace work(memory, sizes.key_dim, sizes.value_dim);
  const std::int64_t mixed_stride = padded(sizes.value_dim);
  RunningSoftmax running;
  std::fill(running.most, running.most + (last - first), -HUGE_VALF);
  std::fill(running.sum, running.sum + (last - first), 0.0f);
  std::fill(work.mixed, work.mixed + (last - first) * mixed_stride, 0.0f);

  const HeadRows query_rows{query.data + first * query.stride, query.stride};
  const Factor queries = GatherRows(work.queries, query_rows, last - first, sizes.key_dim);

  // Blocks that no query sees are left out; a watcher gets their scores all the same.
  const KeyRange seen =
      record ? KeyRange{0, sizes.keys} : visible_keys(rule, first, last, sizes.keys);
  for (std::int64_t from = seen.first / forward_block.keys * forward_block.keys; from < seen.last;
       from += forward_block.keys) {
    const std::int64_t keys = std::min(forward_block.keys, sizes.keys - from);
    PackColumns(work.keys, WithoutPages(work.gathered, key.from(from), keys, sizes.key_dim), keys,
                sizes.key_dim);
    const Factor values =
        PackRows(work.values, WithoutPages(work.gathered, value.from(from), keys, sizes.value_dim),
                 keys, sizes.value_dim);
    // Each block of queries asks for its share of the keys and values behind these.
    const std::int64_t share =
        quotient_up(forward_block.keys, quotient_up(last - first, forward_block.queries));
    std::int64_t soon = from + forward_block.keys;
    for (std::int64_t at = first; at < last; at += forward_block.queries) {
      const ScoreBlock block{work.scores, forward_block.keys,
                             at,          std::min(forward_block.queries, last - at),
                             from,        keys};
      const KeyRange block_sees = visible_keys(rule, at, at + block.rows, sizes.keys);
      if (record == nullptr && (block_sees.last <= from || block_sees.first >= from + keys))
        continue;
      ask_for_rows(key, soon, soon + share, sizes.keys, sizes.key_dim);
      ask_for_rows(value, soon, soon + share, sizes.keys, sizes.value_dim);
      soon += share;
      GemmPanels(work.scores, forward_block.keys, queries.data + (at - first) * queries.row_stride,
                 queries.row_stride, 1, work.keys, block.rows, block.whole_vectors(), sizes.key_dim,
                 false, nullptr);
      const float scale = ApplyRule(block, rule, sizes.keys, record);
      float* mixed = work.mixed + (at - first) * mixed_stride;
      JoinBlock(block, scale, at - first, running, work.mixed, mixed_stride, sizes.value_dim);
      if (rule.has_dropout) {
        for (std::int64_t i = 0; i < block.rows; ++i)
          DropWeights(block.row(i), at + i, from, keys, rule);
      }
      Multiply(mixed, mixed_stride, work.scores, forward_block.keys, 1, values, block.rows,
               sizes.value_dim, keys, /*accumulate=*/true);
    }
  }

  if (record) WriteSoftmax(*record, running, first, last, sizes.keys);
  for (std::int64_t i = first; i < last; ++i) {
    const float sum = running.sum[i - first], most = running.most[i - first];
    const bool sees_nothing = most == -HUGE_VALF;
    log_sum.data[i * log_sum.stride] = sees_nothing ? -HUGE_VALF : most + std::log(sum);
    float* mixed = work.mixed + (i - first) * mixed_stride;
    const auto factor = hn::Set(FloatTag(), sees_nothing ? 0.0f : 1 / sum);
    Map(output.data + i * output.stride, mixed, sizes.value_dim,
        [factor](auto v) HWY_ATTR { return hn::Mul(v, factor); });
  }
}

struct BackwardWorkspace {
  float *weights, *dweights, *key_columns, *key_rows, *value_columns, *queries, *doutputs, *dkeys,
      *dvalues;
  BackwardWorkspace(float* memory, std::int64_t key_dim, std::int64_t value_dim)
      : weights(memory),
        dweights(weights + backward_block.queries * backward_stride),
        key_columns(dweights + backward_block.queries * backward_stride),
        key_rows(key_columns + backward_block.keys * padded(key_dim)),
        value_columns(key_rows + backward_block.keys * padded(key_dim)),
        queries(value_columns + backward_block.keys * padded(value_dim)),
        doutputs(queries + backward_block.queries * padded(key_dim)),
        dkeys(doutputs + backward_block.queries * padded(value_dim)),
        dvalues(dkeys + backward_block.keys * padded(key_dim)) {}
};

// The derivative of a capped score c tanh(s / c) is 1 - (capped / c)^2. The cap is undone from the
// masked score when nothing else was added to it; otherwise the raw scores are capped once more.
HWY_INLINE void CapSlopes(float* dscores, const float* raw, const AttentionRule& rule,
                          std::int64_t keys) {
  const FloatTag d;
  const auto factor = hn::Set(d, rule.scale / rule.softcap), one = hn::Set(d, 1.0f);
  Map(dscores, dscores, raw, keys, [factor, one](auto g, auto s) HWY_ATTR {
    const auto t = Tanh(hn::Mul(s, factor));
    const auto slope = hn::NegMulAdd(t, t, one);
    return hn::IfThenElseZero(hn::Ne(g, hn::Zero(FloatTag())), hn::Mul(g, slope));
  });
}

// A row of scores becomes weights, e^(score * waiting_scale - log_sum), and dweights the gradients
// of the scores, weights * (dweights - delta) * scale. Masked cells have 0 in both, whatever
// dweights holds, and so has a query that sees nothing.
HWY_INLINE void WeightsAgain(float* scores, float* dweights, std::int64_t count,
                             float waiting_scale, float log_sum, float delta, float scale) {
  if (log_sum == -HUGE_VALF) {
    std::fill(scores, scores + count, 0.0f);
    std::fill(dweights, dweights + count, 0.0f);
    return;
  }
  const FloatTag d;
  const auto waiting = hn::Set(d, waiting_scale), shift = hn::Set(d, log_sum);
  const auto mean = hn::Set(d, delta), factor = hn::Set(d, scale);
  for (std::int64_t j = 0; j < count; j += hn::Lanes(d)) {
    const auto weights = Weights(hn::Load(d, scores + j), waiting, shift);
    const auto change = hn::Sub(hn::Load(d, dweights + j), mean);
    const auto slope = hn::Mul(hn::Mul(weights, change), factor);
    hn::Store(weights, d, scores + j);
    hn::Store(hn::IfThenElseZero(hn::Ne(weights, hn::Zero(d)), slope), d, dweights + j);
  }
}

void AttentionDeltas(HeadRowsOut deltas, HeadRows doutput, HeadRows output, std::int64_t queries,
                     std::int64_t value_dim) {
  for (std::int64_t i = 0; i < queries; ++i) {
    deltas.data[i * deltas.stride] =
        SumOf(doutput.data + i * doutput.stride, output.data + i * output.stride, value_dim,
              [](auto g, auto o) HWY_ATTR { return hn::Mul(g, o); });
  }
}

HWY_INLINE void ClearRows(HeadRowsOut rows, std::int64_t count, std::int64_t width) {
  for (std::int64_t i = 0; i < count; ++i) {
    float* row = rows.data + i * rows.stride;
    std::fill(row, row + width, 0.0f);
  }
}

// to = from, or += with accumulate.
HWY_INLINE void PutRows(HeadRowsOut to, HeadRowsOut from, std::int64_t count, std::int64_t width,
                        bool accumulate) {
  for (std::int64_t i = 0; i < count; ++i) {
    float* row = to.data + i * to.stride;
    const float* more = from.data + i * from.stride;
    if (accumulate) {
      Map(row, row, more, width, [](auto a, auto b) HWY_ATTR { return hn::Add(a, b); });
    } else {
      std::copy(more, more + width, row);
    }
  }
}

void AttentionBackward(HeadRowsOut dquery, HeadRowsOut dkey, HeadRowsOut dvalue, bool accumulate,
                       HeadRows doutput, HeadRows deltas, HeadRows log_sum, HeadRows query,
                       HeadRows key, HeadRows value, const AttentionSizes& sizes,
                       const AttentionRule& rule, float* memory) {
  const BackwardWorkspace work(memory, sizes.key_dim, sizes.value_dim);
  if (sizes.keys == 0) ClearRows(dquery, sizes.queries, sizes.key_dim);
  // Several blocks of queries add their shares of dkey and dvalue up in the near cache first.
  const bool is_one_block = sizes.queries <= backward_block.queries;
  for (std::int64_t from = 0; from < sizes.keys; from += backward_block.keys) {
    const std::int64_t keys = std::min(backward_block.keys, sizes.keys - from);
    const HeadRows key_rows{key.data + from * key.stride, key.stride};
    PackColumns(work.key_columns, key_rows, keys, sizes.key_dim);
    PackColumns(work.value_columns, {value.data + from * value.stride, value.stride}, keys,
                sizes.value_dim);
    const Factor packed_keys = PackRows(work.key_rows, key_rows, keys, sizes.key_dim);
    const HeadRowsOut dkey_rows{dkey.data + from * dkey.stride, dkey.stride};
    const HeadRowsOut dvalue_rows{dvalue.data + from * dvalue.stride, dvalue.stride};
    const HeadRowsOut dkeys =
        is_one_block ? dkey_rows : HeadRowsOut{work.dkeys, padded(sizes.key_dim)};
    const HeadRowsOut dvalues =
        is_one_block ? dvalue_rows : HeadRowsOut{work.dvalues, padded(sizes.value_dim)};
    bool has_begun = is_one_block && accumulate;  // are there dkeys and dvalues to add to?

    for (std::int64_t at = 0; at < sizes.queries; at += backward_block.queries) {
      const ScoreBlock block{work.weights, backward_stride,
                             at,           std::min(backward_block.queries, sizes.queries - at),
                             from,         keys};
      const KeyRange seen = visible_keys(rule, at, at + block.rows, sizes.keys);
      const HeadRowsOut dquery_rows{dquery.data + at * dquery.stride, dquery.stride};
      if (seen.last <= from || seen.first >= from + keys) {
        if (from == 0) ClearRows(dquery_rows, block.rows, sizes.key_dim);
        continue;
      }
      const Factor query_rows =
          GatherRows(work.queries, HeadRows{query.data + at * query.stride, query.stride},
                     block.rows, sizes.key_dim);
      const Factor doutput_rows =
          GatherRows(work.doutputs, HeadRows{doutput.data + at * doutput.stride, doutput.stride},
                     block.rows, sizes.value_dim);

      for (std::int64_t i = 0; i < block.rows; i += backward_part) {
        const ScoreBlock part{block.row(i), block.stride,
                              at + i,       std::min(backward_part, block.rows - i),
                              from,         keys};
        const std::int64_t soon = part.first_query + backward_block.queries;
        ask_for_rows(query, soon, soon + part.rows, sizes.queries, sizes.key_dim);
        ask_for_rows(doutput, soon, soon + part.rows, sizes.queries, sizes.value_dim);

        // The scores once more, and dweights = doutput value^T.
        float* dweights = work.dweights + i * backward_stride;
        GemmPanels(part.scores, part.stride, query_rows.data + i * query_rows.row_stride,
                   query_rows.row_stride, 1, work.key_columns, part.rows, part.whole_vectors(),
                   sizes.key_dim, false, nullptr);
        GemmPanels(dweights, backward_stride, doutput_rows.data + i * doutput_rows.row_stride,
                   doutput_rows.row_stride, 1, work.value_columns, part.rows, part.whole_vectors(),
                   sizes.value_dim, false, nullptr);
        const float waiting_scale = ApplyRule(part, rule, sizes.keys, nullptr);
        for (std::int64_t j = 0; j < part.rows; ++j, dweights += backward_stride) {
          const std::int64_t row = part.first_query + j;
          if (rule.has_dropout) DropWeights(dweights, row, from, keys, rule);
          WeightsAgain(part.row(j), dweights, part.whole_vectors(), waiting_scale,
                       log_sum.data[row * log_sum.stride], deltas.data[row * deltas.stride],
                       rule.scale);
          if (rule.has_dropout) DropWeights(part.row(j), row, from, keys, rule);
        }
      }

      // dvalue += weights^T doutput; then the weights' memory holds the raw scores for the cap.
      Multiply(dvalues.data, dvalues.stride, work.weights, 1, backward_stride, doutput_rows, keys,
               sizes.value_dim, block.rows, has_begun);
      if (rule.softcap > 0) {
        GemmPanels(work.weights, backward_stride, query_rows.data, query_rows.row_stride, 1,
                   work.key_columns, block.rows, block.whole_vectors(), sizes.key_dim, false,
                   nullptr);
        for (std::int64_t i = 0; i < block.rows; ++i) {
          CapSlopes(work.dweights + i * backward_stride, block.row(i), rule, block.whole_vectors());
        }
      }
      // dquery += dscores key, dkey += dscores^T query.
      Multiply(dquery_rows.data, dquery_rows.stride, work.dweights, backward_stride, 1, packed_keys,
               block.rows, sizes.key_dim, keys, /*accumulate=*/from > 0);
      Multiply(dkeys.data, dkeys.stride, work.dweights, 1, backward_stride, query_rows, keys,
               sizes.key_dim, block.rows, has_begun);
      has_begun = true;
    }
    if (!has_begun) {
      ClearRows(dkeys, keys, sizes.key_dim);
      ClearRows(dvalues, keys, sizes.value_dim);
    }
    if (is_one_block) continue;
    PutRows(dkey_rows, dkeys, keys, sizes.key_dim, accumulate);
    PutRows(dvalue_rows, dvalues, keys, sizes.value_dim, accumulate);
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(Attention);
HWY_EXPORT(AttentionDeltas);
HWY_EXPORT(AttentionBackward);

std::int64_t attention_workspace(std::int64_t key_dim, std::int64_t value_dim) noexcept {
  const std::int64_t forward = forward_block.queries * forward_block.keys +
                               forward_block.keys * padded(key_dim) +
                               (forward_block.keys + attention_max_queries) * padded(value_dim) +
                               attention_max_queries * padded(key_dim) +
                               forward_block.keys * padded(std::max(key_dim, value_dim));
  const std::int64_t backward =
      2 * backward_block.queries * backward_stride +
      (3 * backward_block.keys + backward_block.queries) * padded(key_dim) +
      (2 * backward_block.keys + backward_block.queries) * padded(value_dim);
  return std::max(forward, backward);
}

void attention(HeadRowsOut output, HeadRowsOut log_sum, HeadRows query, PagedRows key,
               PagedRows value, const AttentionSizes& sizes, const AttentionRule& rule,
               std::int64_t first, std::int64_t last, const AttentionRecord* record,
               float* workspace) noexcept {
  HWY_DYNAMIC_DISPATCH(Attention)
  (output, log_sum, query, key, value, sizes, rule, first, last, record, workspace);
}

void attention_deltas(HeadRowsOut deltas, HeadRows doutput, HeadRows output, std::int64_t queries,
                      std::int64_t value_dim) noexcept {
  HWY_DYNAMIC_DISPATCH(AttentionDeltas)(deltas, doutput, output, queries, value_dim);
}

void attention_backward(HeadRowsOut dquery, HeadRowsOut dkey, HeadRowsOut dvalue, bool accumulate,
                        HeadRows doutput, HeadRows deltas, HeadRows log_sum, HeadRows query,
                        HeadRows key, HeadRows value, const AttentionSizes& sizes,
                        const AttentionRule& rule, float* workspace) noexcept {
  HWY_DYNAMIC_DISPATCH(AttentionBackward)
  (dquery, dkey, dvalue, accumulate, doutput, deltas, log_sum, query, key, value, sizes, rule,
   workspace);
}

}  // namespace heed::kernels
#endif
