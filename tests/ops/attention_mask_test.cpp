// Masked cells never matter: whatever they hold, no bit of any result or gradient changes.
#include <gtest/gtest.h>

#include <cmath>

#include "heed/ops/attention.h"
#include "support/attention_case.h"
#include "support/same_bits.h"

namespace heed {
namespace {

using ops::Similarity;

const std::vector<float> garbage = {std::numeric_limits<float>::quiet_NaN(),
                                    std::numeric_limits<float>::infinity(),
                                    -std::numeric_limits<float>::infinity(), 1e38f};

void fill_row(Tensor& matrix, Index row, float value) {
  std::fill_n(matrix.data() + row * matrix.dim(1), matrix.dim(1), value);
}

void expect_same_bits(const AttentionRun& found, const AttentionRun& expected) {
  EXPECT_TRUE(same_bits(found.output, expected.output)) << "output";
  EXPECT_TRUE(same_bits(found.dquery, expected.dquery)) << "gradient of the query";
  EXPECT_TRUE(same_bits(found.dkey, expected.dkey)) << "gradient of the key";
  EXPECT_TRUE(same_bits(found.dvalue, expected.dvalue)) << "gradient of the value";
}

// Query rows `blind` of each sequence see nothing; key rows `hidden` are seen by nobody.
struct HiddenRows {
  std::vector<Index> blind, hidden;

  bool hides(Index i, Index j) const {
    return std::count(blind.begin(), blind.end(), i) + std::count(hidden.begin(), hidden.end(), j) >
           0;
  }
  void fill(const AttentionCase& c, Inputs& in, float value) const {
    for (const Span& span : c.query_spans()) {
      for (const Index i : blind) {
        if (i < span.length) fill_row(in[0], span.begin + i, value);
      }
    }
    for (const Span& span : c.key_spans()) {
      for (const Index j : hidden) {
        if (j >= span.length) continue;
        fill_row(in[1], span.begin + j, value);
        fill_row(in[2], span.begin + j, value);
      }
    }
  }
};

void expect_hidden_rows_do_not_matter(AttentionCase c, const HiddenRows& rows) {
  const Index queries = c.query_spans().max_length(), keys = c.key_spans().max_length();
  c.mask.dense = dense_mask(1, 1, queries, keys, [&](Index, Index, Index i, Index j) {
                   return rows.hides(i, j) ? masked_cell : 0.25f * static_cast<float>((i + j) % 3);
                 }).dense;
  auto repeated = std::make_shared<ops::DenseMask>(*c.mask.dense);
  repeated->sequence_stride = repeated->head_stride = 0;
  c.mask.dense = repeated;

  const auto run = [&](float value) {
    Inputs in = c.inputs();
    rows.fill(c, in, value);
    return run_with_gradients(in, [&](const Inputs& x) { return c.run(x); });
  };
  const AttentionRun with_zeros = run(0);
  for (const float value : garbage) {
    SCOPED_TRACE(value);
    expect_same_bits(run(value), with_zeros);
  }
  for (const Tensor& tensor :
       {with_zeros.output, with_zeros.dquery, with_zeros.dkey, with_zeros.dvalue}) {
    for (const float value : tensor.values()) ASSERT_TRUE(std::isfinite(value));
  }
}

TEST(AttentionMask, NanAndInfinityInMaskedCellsHaveNoEffectAtAll) {
  for (const Similarity kind : {Similarity::scaled_dot, Similarity::cosine, Similarity::dot}) {
    for (const float softcap : {0.0f, 3.0f}) {
      for (const bool causal : {false, true}) {
        SCOPED_TRACE(testing::Message()
                     << name_of(kind) << " softcap " << softcap << " causal " << causal);
        AttentionCase c{.query_lengths = {1, 5, 150, 70},
                        .key_lengths = {3, 5, 150, 200},
                        .key_dim = 5,
                        .value_dim = 7,
                        .mask = {.causal = causal, .window = 0, .dense = nullptr},
                        .options = {.num_heads = 4, .num_key_value_heads = 2}};
        c.options.similarity = kind;
        c.options.softcap = softcap;
        expect_hidden_rows_do_not_matter(
            c, {.blind = {0, 2, 149}, .hidden = {1, 2, 63, 64, 66, 130, 199}});
      }
    }
  }
}

TEST(AttentionMask, NanAndInfinityInMaskedCellsHaveNoEffectWithDropoutWindowAndAlibi) {
  AttentionCase c{.query_lengths = {5, 90},
                  .key_dim = 8,
                  .mask = {.causal = true, .window = 20, .dense = nullptr},
                  .options = {.num_heads = 2}};
  c.options.dropout = {.probability = 0.2f, .key = 4};
  c.options.alibi_slopes = {0.5f, 0.25f};
  expect_hidden_rows_do_not_matter(c, {.blind = {3, 70}, .hidden = {0, 1, 40}});
}

TEST(AttentionMask, FullyMaskedRowsGiveZerosAndZeroGradients) {
  AttentionCase c{.query_lengths = {4, 100}, .key_dim = 6, .options = {.num_heads = 2}};
  c.mask = dense_mask(2, 2, 100, 100, [](Index, Index, Index i, Index) {
    return i == 1 || i == 77 ? masked_cell : 0.0f;
  });
  const AttentionRun run =
      run_with_gradients(c.inputs(), [&](const Inputs& in) { return c.run(in); });
  for (const Index row : {1, 4 + 1, 4 + 77}) {
    for (const float value : values_of(rows_of(run.output, row, 1))) EXPECT_EQ(value, 0);
    for (const float value : values_of(rows_of(run.dquery, row, 1))) EXPECT_EQ(value, 0);
  }
  expect_matches_reference(
      [&](const Inputs& in) { return c.run(in); },
      [&](const auto& in) { return reference::attention(in[0], in[1], in[2], c.problem()); },
      c.inputs());
  expect_matches_reference(
      [&](const Inputs& in) {
        return ops::attention_reference({in[0], c.query_spans()}, {in[1], c.key_spans()}, in[2],
                                        c.mask, c.options);
      },
      [&](const auto& in) { return reference::attention(in[0], in[1], in[2], c.problem()); },
      c.inputs());
}

TEST(AttentionMask, NothingAtAllVisibleGivesZerosAndZeroGradients) {
  AttentionCase c{.query_lengths = {3}, .key_dim = 5};
  c.mask = dense_mask(1, 1, 3, 3, [](Index, Index, Index, Index) { return masked_cell; });
  Inputs in = c.inputs();
  for (Tensor& tensor : in) std::fill_n(tensor.data(), tensor.size(), garbage[0]);
  const AttentionRun run = run_with_gradients(in, [&](const Inputs& x) { return c.run(x); });
  for (const Tensor& tensor : {run.output, run.dquery, run.dkey, run.dvalue}) {
    for (const float value : tensor.values()) EXPECT_EQ(value, 0);
  }
}

TEST(AttentionMask, AKeyInTheFutureMayHoldAnything) {
  for (const Similarity kind : {Similarity::scaled_dot, Similarity::cosine}) {
    AttentionCase c{
        .query_lengths = {130}, .key_dim = 9, .mask = ops::AttentionMask::causal_mask()};
    c.options.similarity = kind;
    const Inputs clean = c.inputs();
    Inputs in = {clean[0], clean[1].clone(), clean[2].clone()};
    fill_row(in[1], 129, garbage[0]);
    fill_row(in[2], 129, garbage[1]);
    const AttentionRun expected =
        run_with_gradients(clean, [&](const Inputs& x) { return c.run(x); });
    const AttentionRun found = run_with_gradients(in, [&](const Inputs& x) { return c.run(x); });
    // The last query sees the last key; all others must not.
    EXPECT_TRUE(same_bits(rows_of(found.output, 0, 129), rows_of(expected.output, 0, 129)));
    EXPECT_TRUE(same_bits(rows_of(found.dquery, 0, 129), rows_of(expected.dquery, 0, 129)));
  }
}

TEST(AttentionMask, RowsBetweenTheSpansMayHoldAnything) {
  // A cache leaves unused rows after each sequence: here 0, 4, 5 and 9.
  const Spans spans(std::vector<Span>{{1, 3}, {6, 3}});
  const Spans packed = Spans::of_lengths(std::vector<Index>{3, 3});
  const std::vector<Index> place = {1, 2, 3, 6, 7, 8};
  for (const Similarity kind : {Similarity::scaled_dot, Similarity::cosine}) {
    const ops::AttentionOptions options{.num_heads = 2, .similarity = kind};
    const Tensor q = sample({6, 10}), k = sample({6, 10}, 2), v = sample({6, 10}, 3);
    Tensor k_cache = Tensor::full({10, 10}, garbage[0]),
           v_cache = Tensor::full({10, 10}, garbage[1]);
    for (Index i = 0; i < 6; ++i) {
      std::copy_n(k.data() + i * 10, 10, k_cache.data() + place[i] * 10);
      std::copy_n(v.data() + i * 10, 10, v_cache.data() + place[i] * 10);
    }
    const AttentionRun expected = run_with_gradients({q, k, v}, [&](const Inputs& in) {
      return ops::attention({in[0], packed}, {in[1], packed}, in[2], {}, options);
    });
    const AttentionRun found = run_with_gradients({q, k_cache, v_cache}, [&](const Inputs& in) {
      return ops::attention({in[0], packed}, {in[1], spans}, in[2], {}, options);
    });
    EXPECT_TRUE(same_bits(found.output, expected.output));
    EXPECT_TRUE(same_bits(found.dquery, expected.dquery));
    for (Index i = 0; i < 6; ++i) {
      EXPECT_TRUE(same_bits(rows_of(found.dkey, place[i], 1), rows_of(expected.dkey, i, 1)));
      EXPECT_TRUE(same_bits(rows_of(found.dvalue, place[i], 1), rows_of(expected.dvalue, i, 1)));
    }
    for (const Index row : {0, 4, 5, 9}) {
      for (const float value : values_of(rows_of(found.dkey, row, 1))) EXPECT_EQ(value, 0);
      for (const float value : values_of(rows_of(found.dvalue, row, 1))) EXPECT_EQ(value, 0);
    }
  }
}

}  // namespace
}  // namespace heed
