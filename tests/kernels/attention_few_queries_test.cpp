#include "heed/kernels/attention_few_queries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "heed/base/random.h"
#include "heed/core/storage.h"

namespace heed::kernels {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

// Rows of one head among others: as wide as two heads and a bit.
struct Rows {
  Rows(Index count, Index width, std::uint64_t seed)
      : stride(2 * width + 1), values((count + 1) * stride) {
    Rng rng(seed);
    for (float& value : values) value = static_cast<float>(rng.normal());
  }
  RowsView in() const { return {values.data(), stride}; }
  RowsOut out() { return {values.data(), stride}; }

  Index stride;
  std::vector<float> values;
};

std::vector<std::uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits;
  for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

void expect_bits_of_attention(const AttentionSizes& sizes, const AttentionRule& rule,
                              const Rows& query, const Rows& key, const Rows& value) {
  SCOPED_TRACE(testing::Message() << sizes.queries << " queries, " << sizes.keys << " keys of "
                                  << sizes.key_dim << ", values of " << sizes.value_dim);
  ASSERT_TRUE(has_few_queries(sizes, rule));
  Rows expected(sizes.queries, sizes.value_dim, 7), found = expected;
  Rows expected_sum(sizes.queries, 1, 8), found_sum = expected_sum;
  const auto workspace = allocate_floats(attention_workspace(sizes.key_dim, sizes.value_dim));
  const AttentionInput input{query.in(), key.in(), value.in(), sizes};
  attention({expected.out(), expected_sum.out()}, input, rule, {0, sizes.queries}, nullptr,
            workspace.get());
  attention_few_queries({found.out(), found_sum.out()}, input, rule);
  EXPECT_EQ(bits_of(found.values), bits_of(expected.values));
  EXPECT_EQ(bits_of(found_sum.values), bits_of(expected_sum.values));
}

TEST(AttentionFewQueries, HasTheBitsOfAttention) {
  const AttentionRule rule{.scale = 0.3f};
  for (const Index queries : {1, 2, 3, 4, 5, 6}) {
    for (const Index keys : {0, 1, 5, 7, 8, 9, 16, 31, 63, 64, 65, 130, 200}) {
      for (const auto& [key_dim, value_dim] :
           {std::pair<Index, Index>{1, 1}, {4, 3}, {6, 8}, {32, 32}, {33, 65}, {256, 256}}) {
        const AttentionSizes sizes{queries, keys, key_dim, value_dim};
        expect_bits_of_attention(sizes, rule, Rows(queries, key_dim, 1), Rows(keys, key_dim, 2),
                                 Rows(keys, value_dim, 3));
      }
    }
  }
}

TEST(AttentionFewQueries, HasTheBitsOfAttentionWithABiasByDistance) {
  const Rows table(1, 41, 4);
  for (const Index queries : {1, 5}) {
    for (const Index past : {0, 30, 199}) {
      const AttentionRule rule{
          .scale = 0.3f, .distance_bias = table.values.data(), .max_distance = 20, .past = past};
      expect_bits_of_attention({queries, 200, 6, 8}, rule, Rows(queries, 6, 1), Rows(200, 6, 2),
                               Rows(200, 8, 3));
    }
  }
}

TEST(AttentionFewQueries, HasTheBitsOfAttentionWhereWeightsVanishOrValuesAreNotFinite) {
  const AttentionSizes sizes{2, 70, 8, 8};
  for (const float odd : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()}) {
    for (const float scale : {1.0f, 300.0f}) {  // 300: most weights are 0, and hide what is odd
      Rows value(70, 8, 3);
      value.values[5 * value.stride + 2] = value.values[66 * value.stride] = odd;
      expect_bits_of_attention(sizes, {.scale = scale}, Rows(2, 8, 1), Rows(70, 8, 2), value);
    }
  }
}

// The same rows in pages: the last page first, with pages of other rows between them.
struct InPages {
  InPages(const Rows& rows, Index count) : stride(rows.stride) {
    const Index num_pages = (count + attention_page_rows - 1) / attention_page_rows;
    for (Index page = 0; page < num_pages; ++page) pages.push_back(2 * (num_pages - page) - 1);
    values.resize(2 * (num_pages + 1) * attention_page_rows * stride, std::nanf(""));
    for (Index i = 0; i < count; ++i) {
      const Index to =
          pages[i / attention_page_rows] * attention_page_rows + i % attention_page_rows;
      std::copy_n(rows.values.data() + i * stride, stride, values.data() + to * stride);
    }
  }
  PagedRows in() const {
    return {values.data(), stride, attention_page_rows * stride, pages.data()};
  }

  Index stride;
  std::vector<Index> pages;
  std::vector<float> values;
};

TEST(PagedRows, HaveTheBitsOfConsecutiveRows) {
  const AttentionRule rule{.scale = 0.3f};
  for (const Index queries : {1, 5}) {
    for (const Index keys : {1, 15, 16, 17, 33, 127, 128, 129, 300}) {
      for (const auto& [key_dim, value_dim] : {std::pair<Index, Index>{4, 3}, {32, 32}, {33, 65}}) {
        SCOPED_TRACE(testing::Message()
                     << queries << " queries, " << keys << " keys of " << key_dim);
        const AttentionSizes sizes{queries, keys, key_dim, value_dim};
        const Rows query(queries, key_dim, 1), key(keys, key_dim, 2), value(keys, value_dim, 3);
        const InPages paged_key(key, keys), paged_value(value, keys);
        Rows expected(queries, value_dim, 7), many = expected, few = expected;
        Rows expected_sum(queries, 1, 8), many_sum = expected_sum, few_sum = expected_sum;
        const auto workspace = allocate_floats(attention_workspace(key_dim, value_dim));
        const AttentionInput input{query.in(), key.in(), value.in(), sizes};
        const AttentionInput paged{query.in(), paged_key.in(), paged_value.in(), sizes};
        attention({expected.out(), expected_sum.out()}, input, rule, {0, queries}, nullptr,
                  workspace.get());
        attention({many.out(), many_sum.out()}, paged, rule, {0, queries}, nullptr,
                  workspace.get());
        attention_few_queries({few.out(), few_sum.out()}, paged, rule);
        EXPECT_EQ(bits_of(many.values), bits_of(expected.values));
        EXPECT_EQ(bits_of(many_sum.values), bits_of(expected_sum.values));
        EXPECT_EQ(bits_of(few.values), bits_of(expected.values));
        EXPECT_EQ(bits_of(few_sum.values), bits_of(expected_sum.values));
      }
    }
  }
}

TEST(AttentionFewQueries, AreThoseThatSeeEveryKeyAndAreOnlyScaled) {
  const AttentionSizes one{1, 9, 32, 32};
  EXPECT_TRUE(has_few_queries(one, {}));
  EXPECT_TRUE(has_few_queries(one, {.is_causal = true, .past = 8}));
  EXPECT_FALSE(has_few_queries(one, {.is_causal = true, .past = 7}));
  EXPECT_FALSE(has_few_queries(one, {.softcap = 1}));
  EXPECT_FALSE(has_few_queries(one, {.alibi_slope = 1}));
  EXPECT_FALSE(has_few_queries(one, {.window = 3}));
  EXPECT_FALSE(has_few_queries(one, {.has_dropout = true}));
  const float mask[9] = {};
  EXPECT_FALSE(has_few_queries(one, {.dense = mask}));
  EXPECT_FALSE(has_few_queries({0, 9, 32, 32}, {}));
  EXPECT_FALSE(has_few_queries({100, 9, 32, 32}, {}));
  EXPECT_FALSE(has_few_queries({1, 9, 257, 32}, {}));
  EXPECT_FALSE(has_few_queries({1, 9, 32, 257}, {}));
}

}  // namespace
}  // namespace heed::kernels
