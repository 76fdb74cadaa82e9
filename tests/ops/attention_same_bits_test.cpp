// A sequence's attention has the same bits whatever is computed beside it, and however.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/kernels/attention.h"
#include "heed/kernels/softmax.h"
#include "heed/ops/attention.h"
#include "support/attention_case.h"
#include "support/same_bits.h"

namespace heed {
namespace {

// Every feature at once, so that none can break the promise unseen.
AttentionCase rich_case(std::vector<Index> lengths) {
  AttentionCase c{.query_lengths = std::move(lengths),
                  .key_dim = 13,
                  .value_dim = 10,
                  .mask = {.causal = true, .window = 150, .dense = nullptr},
                  .options = {.num_heads = 4, .num_key_value_heads = 2}};
  c.options.softcap = 5;
  c.options.alibi_slopes = {0.5f, 0.25f, 0.125f, 0.0625f};
  return c;
}

AttentionCase plain_case(std::vector<Index> lengths) {
  return {.query_lengths = std::move(lengths),
          .key_dim = 16,
          .mask = ops::AttentionMask::causal_mask(),
          .options = {.num_heads = 2}};
}

AttentionCase cosine_case(std::vector<Index> lengths) {
  AttentionCase c = plain_case(std::move(lengths));
  c.options.similarity = ops::Similarity::cosine;
  return c;
}

TEST(AttentionBits, OtherSequencesInTheBatchChangeNothing) {
  for (const auto make_case : {rich_case, plain_case, cosine_case}) {
    const AttentionCase together = make_case({3, 70, 1, 300, 65});
    const Inputs in = together.inputs();
    const Tensor doutput = sample(together.run(in).shape(), 9);
    const AttentionRun whole = run_with_gradients(
        in, [&](const Inputs& x) { return together.run(x); }, doutput);
    for (const Span& span : together.query_spans()) {
      SCOPED_TRACE(span.length);
      const AttentionCase alone = make_case({span.length});
      Inputs part;
      for (const Tensor& tensor : in) part.push_back(rows_of(tensor, span.begin, span.length));
      const AttentionRun single = run_with_gradients(
          part, [&](const Inputs& x) { return alone.run(x); },
          rows_of(doutput, span.begin, span.length));
      const auto same = [&](const Tensor& one, const Tensor& all) {
        return same_bits(one, rows_of(all, span.begin, span.length));
      };
      EXPECT_TRUE(same(single.output, whole.output));
      EXPECT_TRUE(same(single.dquery, whole.dquery));
      EXPECT_TRUE(same(single.dkey, whole.dkey));
      EXPECT_TRUE(same(single.dvalue, whole.dvalue));
    }
  }
}

TEST(AttentionBits, DecodingWithACacheGivesTheRowsOfTheWholeSequence) {
  const Index length = 210;
  for (const auto make_case : {rich_case, plain_case, cosine_case}) {
    const AttentionCase whole = make_case({length});
    const Inputs in = whole.inputs();
    const Tensor y = whole.run(in);
    for (const Index row : {0, 1, 7, 63, 64, 65, 127, 128, 191, 192, 193, 209}) {
      SCOPED_TRACE(row);
      AttentionCase step = whole;
      step.options.past = {row};
      // The keys known so far; and a cache that already holds later ones, which the mask hides.
      for (const Index keys : {row + 1, length}) {
        const Tensor found =
            ops::attention({rows_of(in[0], row, 1), Spans::single(1)}, {in[1], Spans::single(keys)},
                           in[2], step.mask, step.options);
        EXPECT_TRUE(same_bits(found, rows_of(y, row, 1))) << keys << " keys";
      }
    }
  }
}

TEST(AttentionBits, ChunksOfQueriesGiveTheRowsOfTheWholeSequence) {
  const Index length = 250;
  for (const auto make_case : {rich_case, plain_case, cosine_case}) {
    const AttentionCase whole = make_case({length});
    const Inputs in = whole.inputs();
    const Tensor y = whole.run(in);
    for (Index begin = 0; begin < length; begin += 37) {
      const Index count = std::min<Index>(37, length - begin);
      AttentionCase chunk = whole;
      chunk.options.past = {begin};
      const Tensor found =
          ops::attention({rows_of(in[0], begin, count), Spans::single(count)},
                         {in[1], Spans::single(begin + count)}, in[2], chunk.mask, chunk.options);
      EXPECT_TRUE(same_bits(found, rows_of(y, begin, count))) << begin;
    }
  }
}

constexpr Index page_rows = kernels::attention_page_rows;

// x [N, G * width] in pages [G, pages, page_rows, width], the last page first.
Tensor in_pages(const Tensor& x, Index groups) {
  const Index length = x.dim(0), num_pages = (length + page_rows - 1) / page_rows;
  const Index width = x.dim(1) / groups;
  Tensor pages = Tensor::zeros({groups, num_pages, page_rows, width});
  for (Index t = 0; t < length; ++t) {
    for (Index g = 0; g < groups; ++g) {
      const Index page = num_pages - 1 - t / page_rows;
      const Index row = (g * num_pages + page) * page_rows + t % page_rows;
      std::copy_n(x.data() + t * x.dim(1) + g * width, width, pages.data() + row * width);
    }
  }
  return pages;
}

// The keys and values of a case's one sequence.
ops::PagedKeys paged_keys(const AttentionCase& c, const Inputs& in) {
  ops::PagedKeys paged{in_pages(in[1], c.num_groups()), in_pages(in[2], c.num_groups()), {}, {{}}};
  paged.lengths = {in[1].dim(0)};
  for (Index page = paged.keys.dim(1); page > 0; --page) paged.pages[0].push_back(page - 1);
  return paged;
}

TEST(AttentionBits, KeysInPagesGiveWhatTheyGiveTogether) {
  const Index length = 250;
  for (const auto make_case : {rich_case, plain_case, cosine_case}) {
    const AttentionCase whole = make_case({length});
    const Inputs in = whole.inputs();
    const Tensor y = whole.run(in);
    ops::PagedKeys paged = paged_keys(whole, in);
    for (const auto& [begin, count] :
         {std::pair<Index, Index>{0, 250}, {0, 1}, {17, 40}, {127, 1}, {128, 1}, {249, 1}}) {
      SCOPED_TRACE(testing::Message() << count << " queries from " << begin);
      AttentionCase part = whole;
      part.options.past = {begin};
      paged.lengths = {begin + count};
      const Packed query{rows_of(in[0], begin, count), Spans::single(count)};
      const auto run = [&](ops::AttentionView* view) {
        return ops::attention(query, paged, part.mask, part.options, view);
      };
      ops::AttentionView view;
      EXPECT_TRUE(same_bits(run(nullptr), rows_of(y, begin, count)));
      EXPECT_TRUE(same_bits(run(&view), rows_of(y, begin, count)));
      EXPECT_EQ(view.weights[0].dim(2), begin + count);
    }
  }
}

TEST(AttentionBits, PagesThatAreNotThereAndGradientsThroughPagesAreRefused) {
  const AttentionCase c = plain_case({20});
  const Inputs in = c.inputs();
  Packed query{rows_of(in[0], 19, 1), Spans::single(1)};
  const auto run = [&](const ops::PagedKeys& paged) {
    return ops::attention(query, paged, ops::AttentionMask::none(), c.options);
  };
  ops::PagedKeys paged = paged_keys(c, in);
  EXPECT_NO_THROW(run(paged));
  paged.pages[0][1] = 2;
  EXPECT_THROW(run(paged), Error);
  paged.pages[0].pop_back();
  EXPECT_THROW(run(paged), Error);
  paged = paged_keys(c, in);
  paged.values = in_pages(in[2], 1);
  EXPECT_THROW(run(paged), Error);
  query.values.require_gradient();
  EXPECT_THROW(run(paged_keys(c, in)), Error);
}

TEST(AttentionBits, TheNumberOfThreadsChangesNothing) {
  const int before = num_threads();
  for (const auto make_case : {rich_case, plain_case, cosine_case}) {
    AttentionCase c = make_case({3, 70, 1, 300, 65});
    c.options.dropout = {.probability = 0.1f, .key = 5};
    const auto run = [&](int threads) {
      set_num_threads(threads);
      return run_with_gradients(c.inputs(), [&](const Inputs& x) { return c.run(x); });
    };
    const AttentionRun one = run(1), two = run(2), three = run(3);
    for (const AttentionRun& other : {two, three}) {
      EXPECT_TRUE(same_bits(one.output, other.output));
      EXPECT_TRUE(same_bits(one.dquery, other.dquery));
      EXPECT_TRUE(same_bits(one.dkey, other.dkey));
      EXPECT_TRUE(same_bits(one.dvalue, other.dvalue));
    }
  }
  set_num_threads(before);
}

TEST(AttentionBits, ADenseMaskOfZerosChangesNothing) {
  AttentionCase c = plain_case({70, 5});
  const Tensor without = c.run(c.inputs());
  c.mask.dense = dense_mask(2, 2, 70, 70, [](Index, Index, Index, Index) { return 0.0f; }).dense;
  EXPECT_TRUE(same_bits(c.run(c.inputs()), without));
}

TEST(AttentionBits, CellsUpToTheDiagonalEqualACausalMask) {
  constexpr Index length = 70;
  AttentionCase c = plain_case({length, 5});
  c.mask = ops::AttentionMask::causal_mask();
  const Tensor causal = c.run(c.inputs());
  std::vector<bool> may_see;
  for (Index i = 0; i < length; ++i) {
    for (Index j = 0; j < length; ++j) may_see.push_back(j <= i);
  }
  c.mask = ops::AttentionMask::of_cells(may_see, length);
  EXPECT_TRUE(same_bits(c.run(c.inputs()), causal));
}

TEST(AttentionView, WatchingChangesNothingAndShowsEveryStage) {
  for (const auto make_case : {rich_case, plain_case, cosine_case}) {
    const AttentionCase c = make_case({3, 200, 1, 65});
    const Inputs in = c.inputs();
    ops::AttentionView view;
    const Tensor watched = c.run(in, &view);
    EXPECT_TRUE(same_bits(watched, c.run(in)));

    ASSERT_EQ(view.scores.size(), 4u);
    ASSERT_EQ(view.capped.size(), 4u);
    ASSERT_EQ(view.masked.size(), 4u);
    ASSERT_EQ(view.weights.size(), 4u);
    const reference::AttentionProblem problem = c.problem();
    const auto q = matrix_of(in[0]), k = matrix_of(in[1]);
    for (Index s = 0; s < 4; ++s) {
      const Span span = c.query_spans()[s];
      const Index n = span.length;
      for (const Tensor& stage :
           {view.scores[s], view.capped[s], view.masked[s], view.weights[s]}) {
        ASSERT_EQ(stage.shape(), (Shape{c.options.num_heads, n, n}));
      }
      for (Index h = 0; h < c.options.num_heads; ++h) {
        const Index group = h / (c.options.num_heads / c.num_groups());
        for (Index i = 0; i < n; ++i) {
          double total = 0;
          for (Index j = 0; j < n; ++j) {
            const Index cell = (h * n + i) * n + j;
            const double added = reference::detail::added_to_score(problem, {s, h, i, j});
            const double capped =
                reference::detail::score(q, span.begin + i, h * c.key_dim, k, span.begin + j,
                                         group * c.key_dim, c.key_dim, c.options);
            total += view.weights[s].values()[cell];
            if (added == -std::numeric_limits<double>::infinity()) {
              ASSERT_EQ(view.masked[s].values()[cell], masked_cell);
              ASSERT_EQ(view.weights[s].values()[cell], 0);
              continue;
            }
            ASSERT_NEAR(view.capped[s].values()[cell], capped, 1e-4);
            ASSERT_NEAR(view.masked[s].values()[cell], capped + added, 1e-4);
            const double score = view.scores[s].values()[cell], cap = c.options.softcap;
            ASSERT_NEAR(cap > 0 ? cap * std::tanh(score / cap) : score, capped, 1e-4);
          }
          ASSERT_NEAR(total, 1, 1e-5);
        }
      }
    }
  }
}

TEST(AttentionView, ShowsTheWeightsThatMadeTheResult) {
  const AttentionCase c{
      .query_lengths = {90}, .key_lengths = {140}, .key_dim = 8, .options = {.num_heads = 2}};
  const Inputs in = c.inputs();
  ops::AttentionView view;
  const Tensor y = c.run(in, &view);
  for (Index h = 0; h < 2; ++h) {
    for (Index i = 0; i < 90; ++i) {
      for (Index col = 0; col < 8; ++col) {
        double sum = 0;
        for (Index j = 0; j < 140; ++j) {
          sum += double{view.weights[0].values()[(h * 90 + i) * 140 + j]} *
                 in[2].values()[j * 16 + h * 8 + col];
        }
        ASSERT_NEAR(y.values()[i * 16 + h * 8 + col], sum, 1e-5);
      }
    }
  }
}

TEST(AttentionView, ShowsTheSoftmaxThatMadeTheWeights) {
  for (const Index keys : {3, 140, 300}) {  // one block of keys, and several
    const AttentionCase c{
        .query_lengths = {90}, .key_lengths = {keys}, .key_dim = 8, .options = {.num_heads = 2}};
    ops::AttentionView view;
    c.run(c.inputs(), &view);
    ASSERT_EQ(view.maxima[0].shape(), (Shape{2, 90}));
    ASSERT_EQ(view.sums[0].shape(), (Shape{2, 90}));
    std::vector<float> exps(static_cast<std::size_t>(keys));
    for (Index row = 0; row < 2 * 90; ++row) {
      const float* masked = view.masked[0].data() + row * keys;
      const float most = view.maxima[0].values()[row], sum = view.sums[0].values()[row];
      EXPECT_EQ(most, *std::max_element(masked, masked + keys));
      kernels::exp_below(exps.data(), masked, most, keys);
      double total = 0;
      for (Index j = 0; j < keys; ++j) {
        ASSERT_EQ(view.weights[0].values()[row * keys + j], exps[j] * (1 / sum)) << "to the bit";
        total += exps[j];
      }
      ASSERT_NEAR(sum, total, 1e-5 * total);
    }
  }
}

TEST(AttentionView, ARowThatSeesNothingHasWeightsOfZero) {
  AttentionCase c{.query_lengths = {2}};
  c.mask = dense_mask(1, 1, 2, 2,
                      [](Index, Index, Index i, Index) { return i == 0 ? masked_cell : 0.0f; });
  ops::AttentionView view;
  c.run(c.inputs(), &view);
  EXPECT_EQ(view.maxima[0].values()[0], masked_cell);
  EXPECT_EQ(view.sums[0].values()[0], 0);
  EXPECT_EQ(view.weights[0].values()[0], 0);
  EXPECT_EQ(view.weights[0].values()[1], 0);
  EXPECT_NEAR(view.weights[0].values()[2] + view.weights[0].values()[3], 1, 1e-6);
}

}  // namespace
}  // namespace heed
