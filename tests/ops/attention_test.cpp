#include "heed/ops/attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/error.h"
#include "heed/core/storage.h"
#include "heed/ops/matmul.h"
#include "heed/ops/positions.h"
#include "heed/ops/softmax.h"
#include "support/attention_case.h"
#include "support/same_bits.h"

namespace heed {
namespace {

using ops::Similarity;

// The blocked version and, where it can do as much, the composition of small operations.
void expect_matches_reference(const AttentionCase& c, double tolerance = 1e-5) {
  const auto plain = [&](const auto& in) {
    return reference::attention(in[0], in[1], in[2], c.problem());
  };
  expect_matches_reference([&](const Inputs& in) { return c.run(in); }, plain, c.inputs(),
                           tolerance);
  if (!c.options.past.empty() || c.options.softcap != 0) return;
  SCOPED_TRACE("attention_reference");
  expect_matches_reference(
      [&](const Inputs& in) {
        return ops::attention_reference({in[0], c.query_spans()}, {in[1], c.key_spans()}, in[2],
                                        c.mask, c.options);
      },
      plain, c.inputs(), tolerance);
}

TEST(Attention, SmallValuesByHand) {
  // The query agrees with the first key by log 3 and with the second by 0: weights 3/4 and 1/4.
  const Tensor q = Tensor::from({std::log(3.0f), 0}, {1, 2});
  const Tensor k = Tensor::from({1, 0, 0, 1}, {2, 2});
  const Tensor v = Tensor::from({8, 0, 0, 4}, {2, 2});
  const Tensor y = ops::attention({q, Spans::single(1)}, {k, Spans::single(2)}, v,
                                  ops::AttentionMask::none(), {.similarity = Similarity::dot});
  EXPECT_FLOAT_EQ(y.values()[0], 6);
  EXPECT_FLOAT_EQ(y.values()[1], 1);
}

TEST(Attention, OneTokenGivesItsOwnValue) {
  const AttentionCase c{.query_lengths = {1}, .key_dim = 3};
  const Inputs in = c.inputs();
  EXPECT_TRUE(same_bits(c.run(in), in[2]));
}

TEST(Attention, SelfAttentionWithoutParametersIsTheFormula) {
  const Tensor x = sample({4, 3});
  const Packed words{x, Spans::single(4)};
  const Tensor formula = ops::matmul(ops::softmax(ops::scaled_dot_similarity(x, x)), x);
  const Tensor moved = ops::self_attention(words);
  for (Index i = 0; i < x.size(); ++i) EXPECT_NEAR(moved.values()[i], formula.values()[i], 1e-6);

  const Tensor causal = ops::self_attention(words, ops::AttentionMask::causal_mask());
  EXPECT_TRUE(same_bits(rows_of(causal, 0, 1), rows_of(x, 0, 1)));  // the first word stays
  EXPECT_FALSE(same_bits(rows_of(causal, 1, 1), rows_of(x, 1, 1)));
}

TEST(Attention, MatchesTheReferenceAtAnyWidth) {
  for (const Index width : {1, 3, 5, 7, 13, 17, 33, 64, 80}) {
    for (const Index heads : {1, 2}) {
      SCOPED_TRACE(testing::Message() << heads << " heads of width " << width);
      expect_matches_reference(AttentionCase{
          .query_lengths = {1, 9, 4}, .key_dim = width, .options = {.num_heads = heads}});
    }
  }
}

TEST(Attention, MatchesTheReferenceWhenValuesHaveAnotherWidth) {
  for (const Index width : {1, 5, 8, 33}) {
    for (const Index value_width : {1, 3, 7, 16, 40}) {
      SCOPED_TRACE(testing::Message() << width << " and " << value_width);
      expect_matches_reference(AttentionCase{.query_lengths = {6, 2},
                                             .key_lengths = {3, 5},
                                             .key_dim = width,
                                             .value_dim = value_width,
                                             .options = {.num_heads = 2}});
    }
  }
}

TEST(Attention, MatchesTheReferenceForLengthsFromOneTo300InOneBatch) {
  const std::vector<Index> lengths = {1, 300, 2, 17, 65, 1, 128, 3, 31};
  expect_matches_reference(AttentionCase{
      .query_lengths = lengths, .key_dim = 5, .mask = ops::AttentionMask::causal_mask()});
  expect_matches_reference(AttentionCase{.query_lengths = lengths, .key_dim = 3});
  // As a decoder looks at its memory: other lengths on the other side.
  expect_matches_reference(AttentionCase{.query_lengths = {4, 130, 1, 7, 300, 64, 2, 1, 5},
                                         .key_lengths = {300, 3, 1, 64, 2, 129, 70, 33, 200},
                                         .key_dim = 4,
                                         .options = {.num_heads = 2}});
}

TEST(Attention, MatchesTheReferenceWithFewerKeyValueHeads) {
  for (const Index groups : {1, 2, 3, 6}) {
    SCOPED_TRACE(groups);
    expect_matches_reference(
        AttentionCase{.query_lengths = {7, 70, 1},
                      .key_dim = 5,
                      .mask = ops::AttentionMask::causal_mask(),
                      .options = {.num_heads = 6, .num_key_value_heads = groups}});
  }
}

TEST(Attention, MatchesTheReferenceForEverySimilarityAndScale) {
  for (const Similarity kind : {Similarity::dot, Similarity::cosine, Similarity::scaled_dot}) {
    for (const std::optional<float> scale : {std::optional<float>(), std::optional(0.7f)}) {
      SCOPED_TRACE(name_of(kind));
      expect_matches_reference(
          AttentionCase{.query_lengths = {5, 70},
                        .key_dim = 6,
                        .options = {.num_heads = 2, .similarity = kind, .scale = scale}});
    }
  }
}

TEST(Attention, MatchesTheReferenceWithWindowSoftcapAndAlibi) {
  for (const Index window : {0, 1, 2, 5, 66, 1000}) {
    for (const bool causal : {false, true}) {
      SCOPED_TRACE(testing::Message() << "window " << window << " causal " << causal);
      expect_matches_reference(
          AttentionCase{.query_lengths = {3, 140, 6},
                        .key_dim = 3,
                        .mask = {.causal = causal, .window = window, .dense = nullptr},
                        .options = {.num_heads = 2}});
    }
  }
  for (const float softcap : {0.0f, 0.5f, 30.0f}) {
    for (const bool alibi : {false, true}) {
      SCOPED_TRACE(testing::Message() << "softcap " << softcap << " alibi " << alibi);
      AttentionCase c{.query_lengths = {3, 70, 6},
                      .key_lengths = {9, 70, 1},
                      .key_dim = 4,
                      .options = {.num_heads = 3, .softcap = softcap}};
      if (alibi) c.options.alibi_slopes = ops::alibi_slopes(3);
      expect_matches_reference(c);
    }
  }
}

TEST(Attention, MatchesTheReferenceWithPastKeys) {
  for (const bool causal : {false, true}) {
    for (const Index window : {0, 4}) {
      SCOPED_TRACE(testing::Message() << "causal " << causal << " window " << window);
      AttentionCase c{.query_lengths = {1, 4, 20},
                      .key_lengths = {8, 74, 20},
                      .key_dim = 5,
                      .mask = {.causal = causal, .window = window, .dense = nullptr},
                      .options = {.num_heads = 2, .num_key_value_heads = 1}};
      c.options.past = {7, 70, 0};
      c.options.alibi_slopes = {0.5f, 0.1f};
      expect_matches_reference(c);
    }
  }
}

TEST(Attention, MatchesTheReferenceWithABiasByDistance) {
  for (const Index reach : {1, 3, 40, 200}) {
    for (const bool causal : {false, true}) {
      SCOPED_TRACE(testing::Message() << "distances up to " << reach << ", causal " << causal);
      AttentionCase c{.query_lengths = {1, 4, 210},
                      .key_lengths = {8, 74, 210},
                      .key_dim = 5,
                      .options = {.num_heads = 2, .num_key_value_heads = 1, .scale = 0.7f}};
      c.options.past = {7, 70, 0};
      c.mask.causal = causal;
      Inputs inputs = c.inputs();
      inputs.push_back(sample({2 * reach + 1, 2}, 4));
      for (const float softcap : {0.0f, 2.0f}) {
        c.options.softcap = softcap;
        expect_matches_reference(
            [&](const Inputs& in) {
              AttentionCase biased = c;
              biased.mask.distance_bias = in[3];
              return biased.run(in);
            },
            [&](const auto& in) {
              return reference::attention(in[0], in[1], in[2], c.problem(), in[3]);
            },
            inputs, 2e-5);
      }
    }
  }
}

TEST(Attention, MatchesTheReferenceWithADenseMask) {
  const auto value = [](Index s, Index h, Index i, Index j) {
    if ((s + h + i + 2 * j) % 3 == 0) return masked_cell;
    return 0.1f * static_cast<float>((7 * i + 3 * j + h) % 11);
  };
  AttentionCase c{.query_lengths = {5, 80, 1},
                  .key_lengths = {7, 70, 75},
                  .key_dim = 6,
                  .mask = dense_mask(3, 2, 80, 75, value),
                  .options = {.num_heads = 2}};
  expect_matches_reference(c);
  c.mask.causal = true;
  c.options.softcap = 2;
  expect_matches_reference(c);
}

TEST(Attention, ADenseMaskMayRepeatItsNumbers) {
  // One row of numbers for all sequences, heads and queries.
  auto row = std::make_shared<ops::DenseMask>();
  row->values = {0.5f, masked_cell, -1, 2};
  AttentionCase c{.query_lengths = {3, 2},
                  .key_lengths = {4, 3},
                  .mask = {.causal = false, .window = 0, .dense = row},
                  .options = {.num_heads = 2}};
  expect_matches_reference(c);
}

TEST(Attention, TheReferenceHasTheRightGradient) {
  AttentionCase c{.query_lengths = {3, 2},
                  .key_lengths = {4, 5},
                  .key_dim = 3,
                  .value_dim = 2,
                  .mask = dense_mask(2, 2, 3, 5, [](Index s, Index, Index i, Index j) {
                    return s == 1 && i == 0 ? masked_cell : 0.1f * static_cast<float>(j);
                  })};
  c.mask.causal = true;
  c.options = {.num_heads = 2, .num_key_value_heads = 1, .softcap = 1.5f};
  c.options.past = {1, 3};
  c.options.alibi_slopes = {0.3f, 0.1f};
  for (const Similarity kind : {Similarity::cosine, Similarity::scaled_dot}) {
    c.options.similarity = kind;
    expect_gradient_is_right(
        [&](const auto& in) { return reference::attention(in[0], in[1], in[2], c.problem()); },
        c.inputs());
  }
}

TEST(Attention, HugeScoresDoNotOverflow) {
  AttentionCase c{.query_lengths = {70}, .key_dim = 2, .options = {.similarity = Similarity::dot}};
  Inputs in = c.inputs();
  for (float& value : in[0].values()) value *= 1e6f;
  for (float& value : in[1].values()) value *= 1e6f;
  const AttentionRun run = run_with_gradients(in, [&](const Inputs& x) { return c.run(x); });
  for (const Tensor& tensor : {run.output, run.dquery, run.dkey, run.dvalue}) {
    for (const float value : tensor.values()) ASSERT_TRUE(std::isfinite(value));
  }
}

TEST(Attention, EmptySequencesAreAllowed) {
  const AttentionCase c{.query_lengths = {2, 0, 3}, .key_lengths = {0, 4, 2}};
  const AttentionRun run =
      run_with_gradients(c.inputs(), [&](const Inputs& in) { return c.run(in); });
  for (const float value : values_of(rows_of(run.output, 0, 2))) EXPECT_EQ(value, 0);
  for (const float value : values_of(rows_of(run.dquery, 0, 2))) EXPECT_EQ(value, 0);
  expect_matches_reference(
      [&](const Inputs& in) { return c.run(in); },
      [&](const auto& in) { return reference::attention(in[0], in[1], in[2], c.problem()); },
      c.inputs());
}

// Gradients are made in memory that was used before, and not cleared first.
TEST(Attention, EveryGradientIsSetEvenWhereNothingIsSeen) {
  for (const Index window : {0, 3}) {
    for (const bool causal : {false, true}) {
      SCOPED_TRACE(testing::Message() << "window " << window << " causal " << causal);
      AttentionCase c{.query_lengths = {300, 0, 5, 100, 7, 2},
                      .key_lengths = {300, 4, 0, 260, 290, 9},
                      .key_dim = 3,
                      .mask = {.causal = causal, .window = window, .dense = nullptr},
                      .options = {.num_heads = 4, .num_key_value_heads = 2}};
      c.options.past = {0, 0, 0, 40, 280, 0};
      { const Tensor used = Tensor::full({1 << 20}, NAN); }
      expect_matches_reference(
          [&](const Inputs& in) { return c.run(in); },
          [&](const auto& in) { return reference::attention(in[0], in[1], in[2], c.problem()); },
          c.inputs());
    }
  }
}

TEST(Attention, MemoryGrowsWithTheLengthNotWithItsSquare) {
  const Index length = 3000;
  const AttentionCase c{.query_lengths = {length}, .key_dim = 8};
  const Inputs in = c.inputs();
  const Index before = tensor_bytes();
  reset_peak_tensor_bytes();  // other tests of this process may have needed more
  run_with_gradients(in, [&](const Inputs& x) { return c.run(x); });
  // About a dozen tensors of the size of the query; the weights would be 375 times one of them.
  const Index one_tensor = length * 8 * static_cast<Index>(sizeof(float));
  EXPECT_LT(peak_tensor_bytes() - before, 40 * one_tensor);
}

// ---- Dropout of the weights. The factors are read from the op itself: with the identity as values
// the result is the weights, dropped or not.

reference::WeightFactor dropout_factors(AttentionCase c) {
  const Index heads = c.options.num_heads, keys = c.key_spans().max_length();
  c.options.num_key_value_heads = 0;
  c.value_dim = keys;
  Inputs in = c.inputs();
  in[1] = sample({c.key_spans().num_tokens(), heads * c.key_dim}, 2);
  in[2] = Tensor::zeros({c.key_spans().num_tokens(), heads * keys});
  for (const Span& span : c.key_spans()) {
    for (Index j = 0; j < span.length; ++j) {
      for (Index h = 0; h < heads; ++h) {
        in[2].data()[((span.begin + j) * heads + h) * keys + j] = 1;
      }
    }
  }
  const Tensor dropped = c.run(in);
  c.options.dropout = {};
  const Tensor whole = c.run(in);
  return [=](Index sequence, Index head, Index query, Index key) -> double {
    const Index row = c.query_spans()[sequence].begin + query;
    const Index cell = (row * heads + head) * keys + key;
    return dropped.values()[cell] / whole.values()[cell];
  };
}

TEST(AttentionDropout, ValuesAndGradientsMatchTheReference) {
  for (const bool causal : {false, true}) {
    AttentionCase c{.query_lengths = {5, 70, 1},
                    .key_dim = 3,
                    .mask = {.causal = causal, .window = 0, .dense = nullptr},
                    .options = {.num_heads = 4, .num_key_value_heads = 2}};
    c.options.dropout = {.probability = 0.25f, .key = 77};
    reference::AttentionProblem problem = c.problem();
    problem.weight_factor = [factor = dropout_factors(c)](Index s, Index h, Index i, Index j) {
      return factor(s, h, i, j) == 0 ? 0.0 : 1 / 0.75;
    };
    expect_matches_reference(
        [&](const Inputs& in) { return c.run(in); },
        [&](const auto& in) { return reference::attention(in[0], in[1], in[2], problem); },
        c.inputs());
  }
}

TEST(AttentionDropout, TakesTheShareThatWasAskedForInEveryHead) {
  AttentionCase c{.query_lengths = {100, 100}, .key_dim = 3, .options = {.num_heads = 2}};
  c.options.dropout = {.probability = 0.25f, .key = 78};
  const reference::WeightFactor factor = dropout_factors(c);
  for (Index s = 0; s < 2; ++s) {
    for (Index h = 0; h < 2; ++h) {
      int zeros = 0, as_neighbour = 0;
      for (Index i = 0; i < 100; ++i) {
        for (Index j = 0; j < 100; ++j) {
          const double found = factor(s, h, i, j);
          zeros += found == 0;
          ASSERT_TRUE(found == 0 || std::abs(found - 1 / 0.75) < 1e-4) << found;
          as_neighbour += (found == 0) == (factor(1 - s, h, i, j) == 0);
        }
      }
      EXPECT_NEAR(zeros, 2500, 250);         // the deviation is 43
      EXPECT_NEAR(as_neighbour, 6250, 300);  // 0.75^2 + 0.25^2: sequences differ
    }
  }
}

// ---- What is refused

TEST(Attention, RefusesWhatDoesNotFit) {
  const auto refused = [](AttentionCase c, auto change) {
    Inputs in = c.inputs();
    Spans queries = c.query_spans(), keys = c.key_spans();
    change(c, in, queries, keys);
    EXPECT_THROW(ops::attention({in[0], queries}, {in[1], keys}, in[2], c.mask, c.options), Error);
  };
  const AttentionCase two{.query_lengths = {3, 2}, .key_dim = 6, .options = {.num_heads = 2}};
  refused(two, [](auto& c, auto&, auto&, auto&) { c.options.num_heads = 5; });
  refused(two, [](auto& c, auto&, auto&, auto&) { c.options.num_heads = 0; });
  refused(two, [](auto& c, auto&, auto&, auto&) { c.options.num_key_value_heads = 3; });
  refused(two, [](auto& c, auto&, auto&, auto&) { c.options.past = {1}; });
  refused(two, [](auto& c, auto&, auto&, auto&) { c.options.alibi_slopes = {1, 2, 3}; });
  refused(two, [](auto&, auto& in, auto&, auto&) { in[1] = sample({5, 10}); });
  refused(two, [](auto&, auto& in, auto&, auto&) { in[2] = sample({4, 12}); });
  refused(two, [](auto&, auto&, auto& queries, auto&) { queries = Spans::single(5); });
  refused(two, [](auto&, auto&, auto& queries, auto& keys) {
    queries = keys = Spans::of_lengths(std::vector<Index>{3, 3});
  });
  refused(two, [](auto&, auto&, auto& queries, auto&) {
    queries = Spans(std::vector<Span>{{2, 3}, {0, 3}});  // row 2 twice
  });
  refused(two, [](auto&, auto& in, auto&, auto& keys) {
    in[1].require_gradient();
    keys = Spans(std::vector<Span>{{0, 3}, {0, 3}});
  });
  refused(two, [](auto& c, auto&, auto&, auto&) {
    auto dense = std::make_shared<ops::DenseMask>();
    dense->values = {0, 0};  // keys need three
    c.mask.dense = dense;
  });
  refused(two, [](auto& c, auto&, auto&, auto&) { c.mask.distance_bias = sample({4, 2}); });
  refused(two, [](auto& c, auto&, auto&, auto&) { c.mask.distance_bias = sample({3, 1}); });
  refused(two, [](auto& c, auto&, auto&, auto&) {
    c.mask.distance_bias = sample({3, 2});
    c.options.scale = 0;
  });
}

}  // namespace
}  // namespace heed
