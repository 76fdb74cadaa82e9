// Pieces that attention forward and backward share: packing, blocks of scores, masks and dropout;
// compiled once per instruction set.
#if defined(HEED_KERNELS_ATTENTION_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_BLOCK_INL_H_
#undef HEED_KERNELS_ATTENTION_BLOCK_INL_H_
#else
#define HEED_KERNELS_ATTENTION_BLOCK_INL_H_
#endif

#include <algorithm>
#include <cmath>

#include "heed/base/index.h"
#include "heed/base/random.h"
#include "heed/kernels/attention.h"
#include "heed/kernels/attention_workspace.h"
#include "heed/kernels/distance_bias-inl.h"
#include "heed/kernels/gemm-inl.h"
#include "heed/kernels/math-inl.h"
#include "heed/kernels/tanh-inl.h"
#include "heed/kernels/visible_keys.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// The second operand B of a product, in panels or in rows, with a note whether all of it is finite.
// Zeros of A stand for masked cells: they must not meet NaN or infinity, as the product would
// be NaN.
struct OperandB {
  RowsView rows;  // stride 0: in panels
  bool is_finite;

  bool is_packed() const { return rows.stride == 0; }
};

// Are all vectors that it saw finite? Magnitudes are in the order of their bits, infinity and NaN
// after all others.
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
HWY_INLINE bool AllFinite(const float* x, Index count) {
  const FloatTag d;
  FiniteCheck finite;
  for (Index i = 0; i < count; i += hn::Lanes(d)) finite.see(hn::Load(d, x + i));
  return finite.holds();
}

// The rows as an operand [count, width].
HWY_INLINE OperandB PackRows(float* panels, RowsView rows, Index count, Index width) {
  PackPanels(panels, rows, width, count);
  return {{panels, 0}, AllFinite(panels, round_up(width, PanelWidth()) * count)};
}

// The rows one after another, padded with zeros: heads are side by side in a tensor, and rows of
// one head are often so far apart that they fall on the same few sets of the cache. The copy is an
// operand [count, width].
HWY_INLINE OperandB CopyRows(float* target, const PagedRows& rows, Index count, Index width) {
  const FloatTag d;
  const Index lanes = hn::Lanes(d), stride = padded_width(width), whole = width / lanes * lanes;
  FiniteCheck finite;
  for (Index i = 0; i < count; ++i) {
    const float* from = rows.row(i);
    float* to = target + i * stride;
    for (Index j = 0; j < whole; j += lanes) {
      const auto v = hn::LoadU(d, from + j);
      finite.see(v);
      hn::Store(v, d, to + j);
    }
    for (Index j = whole; j < stride; ++j) to[j] = j < width ? from[j] : 0;
    if (whole < width) finite.see(hn::Load(d, to + whole));
  }
  return {{target, stride}, finite.holds()};
}

// The rows as consecutive ones: where they are, unless they are in pages.
HWY_INLINE RowsView WithoutPages(float* target, const PagedRows& rows, Index count, Index width) {
  if (rows.pages == nullptr) return rows.consecutive();
  return CopyRows(target, rows, count, width).rows;
}

// The rows as an operand [width, count].
HWY_INLINE void PackColumns(float* panels, RowsView rows, Index count, Index width) {
  PackPanels(panels, {rows.data, 1, rows.stride}, count, width);
}

// c [m, n] (+)= a x b for a B that is not finite: zeros of A skip their row of B. The bits are
// those of a finite B, because adding 0 * b changes nothing.
HWY_INLINE void MultiplySkippingZeros(const RowsOut& c, const MatrixView& a, const OperandB& b,
                                      const GemmSizes& sizes, bool accumulate) {
  const Index width = PanelWidth();
  const Index row_stride = b.is_packed() ? width : b.rows.stride;
  const Index panel_step = b.is_packed() ? width * sizes.k : width;
  for (Index i = 0; i < sizes.m; ++i) {
    for (Index j = 0; j < sizes.n; ++j) {
      const float* column = b.rows.data + j / width * panel_step + j % width;
      float sum = 0;
      for (Index l = 0; l < sizes.k; ++l) {
        const float factor = a.data[i * a.row_stride + l * a.col_stride];
        if (factor != 0) sum = std::fma(factor, column[l * row_stride], sum);
      }
      float& result = c.row(i)[j];
      result = accumulate ? result + sum : sum;
    }
  }
}

// c [m, n] = a [m, k] x b, or += with accumulate.
HWY_INLINE void Multiply(const RowsOut& c, const MatrixView& a, const OperandB& b,
                         const GemmSizes& sizes, bool accumulate) {
  if (!b.is_finite) return MultiplySkippingZeros(c, a, b, sizes, accumulate);
  if (!b.is_packed()) return GemmRowsOfB(c, a, b.rows, sizes, accumulate);
  GemmPanels(c, a, b.rows.data, sizes, {.epilogue = {accumulate, nullptr}});
}

// Rows of scores [rows, stride] for queries from `first_query` and keys from `first_key`.
struct ScoreBlock {
  float* scores;
  Index stride;
  Index first_query, rows, first_key, keys;
  float* row(Index i) const { return scores + i * stride; }
  // Rows are padded to whole vectors. What comes after the keys is computed too, and never used.
  Index whole_vectors() const { return round_up(keys, hn::Lanes(FloatTag())); }
};

HWY_INLINE void CopyToRecord(const ScoreBlock& block, float* target, Index all_keys) {
  if (target == nullptr) return;
  for (Index i = 0; i < block.rows; ++i) {
    float* to = target + (block.first_query + i) * all_keys + block.first_key;
    std::copy(block.row(i), block.row(i) + block.keys, to);
  }
}

HWY_INLINE void CapScores(const ScoreBlock& block, float softcap) {
  const FloatTag d;
  const auto cap = hn::Set(d, softcap), inverse = hn::Set(d, 1 / softcap);
  for (Index i = 0; i < block.rows; ++i) {
    Map(block.row(i), block.row(i), block.whole_vectors(),
        [cap, inverse](auto v) HWY_ATTR { return hn::Mul(cap, Tanh(hn::Mul(v, inverse))); });
  }
}

HWY_INLINE void AddAlibi(float* row, Index query, const ScoreBlock& block,
                         const AttentionRule& rule) {
  for (Index j = 0; j < block.keys; ++j) {
    const Index distance = query + rule.past - (block.first_key + j);
    row[j] -= rule.alibi_slope * static_cast<float>(distance < 0 ? -distance : distance);
  }
}

// A masked cell holds minus infinity even if its score is NaN.
HWY_INLINE void AddDenseMask(float* row, const float* dense, Index keys) {
  for (Index j = 0; j < keys; ++j) {
    row[j] = dense[j] == -HUGE_VALF ? -HUGE_VALF : row[j] + dense[j];
  }
}

// Scores that go to a record, or of a rule with more than scale and mask: scaled, capped, with the
// biases of ALiBi, of the distance and of the dense mask.
HWY_INLINE void ScaleAndAddBias(const ScoreBlock& block, const AttentionRule& rule, Index all_keys,
                                const AttentionRecord* record) {
  const auto scale = hn::Set(FloatTag(), rule.scale);
  for (Index i = 0; i < block.rows; ++i) {
    Map(block.row(i), block.row(i), block.whole_vectors(),
        [scale](auto v) HWY_ATTR { return hn::Mul(v, scale); });
  }
  if (record) CopyToRecord(block, record->scores, all_keys);
  if (rule.softcap > 0) CapScores(block, rule.softcap);
  if (record) CopyToRecord(block, record->capped, all_keys);
  for (Index i = 0; i < block.rows; ++i) {
    const Index query = block.first_query + i;
    if (rule.alibi_slope != 0) AddAlibi(block.row(i), query, block, rule);
    if (rule.distance_bias) {
      AddDistanceBias(block.row(i), query, block.first_key, block.keys, rule);
    }
    if (rule.dense) {
      AddDenseMask(block.row(i), rule.dense + query * rule.dense_stride + block.first_key,
                   block.keys);
    }
  }
}

HWY_INLINE void MaskByPosition(const ScoreBlock& block, const AttentionRule& rule, Index all_keys) {
  for (Index i = 0; i < block.rows; ++i) {
    float* row = block.row(i);
    const KeyRange visible = visible_keys(rule, block.first_query + i, all_keys);
    const Index first = std::min(block.keys, visible.first - block.first_key);
    const Index last = std::max<Index>(0, visible.last - block.first_key);
    for (Index j = 0; j < first; ++j) row[j] = -HUGE_VALF;
    for (Index j = last; j < block.keys; ++j) row[j] = -HUGE_VALF;
    for (Index j = block.keys; j < block.whole_vectors(); ++j) row[j] = -HUGE_VALF;
  }
}

// Scores become masked scores, minus infinity where masked. Returns the deferred scale, which they
// are still to be multiplied by: where there is nothing but scale and mask, the softmax multiplies,
// which saves a pass. The bits are the same, because the largest score times a positive scale is
// the largest scaled score.
HWY_INLINE float ApplyRule(const ScoreBlock& block, const AttentionRule& rule, Index all_keys,
                           const AttentionRecord* record) {
  const bool can_defer = record == nullptr && rule.softcap == 0 && rule.alibi_slope == 0 &&
                         rule.distance_bias == nullptr && rule.dense == nullptr && rule.scale > 0;
  if (!can_defer) ScaleAndAddBias(block, rule, all_keys, record);
  MaskByPosition(block, rule, all_keys);
  if (record) CopyToRecord(block, record->masked, all_keys);
  return can_defer ? rule.scale : 1;
}

// Dropout of the weights of one query.
HWY_INLINE void DropWeights(float* row, Index query, Index first_key, Index keys,
                            const AttentionRule& rule) {
  const Index row_number = rule.first_dropout_row + query * rule.dropout_row_step;
  const std::uint64_t key = random_bits(rule.dropout.key, static_cast<std::uint64_t>(row_number));
  const float scale = dropout_scale(rule.dropout);
  for (Index j = 0; j < keys; ++j) {
    const Index element = first_key + j;
    const std::uint64_t bits = random_bits(key, static_cast<std::uint64_t>(element / 4));
    const auto sixteen = static_cast<std::uint32_t>(bits >> (16 * (element % 4))) & 0xffffu;
    row[j] = sixteen >= rule.dropout.threshold ? row[j] * scale : 0.0f;
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // target toggle
