#include "heed/kernels/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <new>
#include <vector>

#include "heed/base/random.h"

namespace heed::kernels {
namespace {

// How the factors lie in memory, and what happens to c.
struct Case {
  bool a_transposed = false, b_transposed = false, accumulate = false, has_bias = false;
  Index gap = 0;  // unused floats after each stored row
};

std::vector<float> random_floats(Index count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(rng.normal());
  return values;
}

// Memory aligned as gemm_pack needs it.
class AlignedFloats {
 public:
  explicit AlignedFloats(Index count)
      : data_(static_cast<float*>(::operator new(count * sizeof(float) + 64, alignment))) {}
  ~AlignedFloats() { ::operator delete(data_, alignment); }
  AlignedFloats(const AlignedFloats&) = delete;
  AlignedFloats& operator=(const AlignedFloats&) = delete;
  float* data() const { return data_; }

 private:
  static constexpr std::align_val_t alignment{64};
  float* data_;
};

void expect_right(const GemmSizes& sizes, const Case& layout) {
  const auto [m, n, k] = sizes;
  SCOPED_TRACE(testing::Message() << "[" << m << ", " << k << "] x [" << k << ", " << n << "]"
                                  << (layout.a_transposed ? " a^T" : "")
                                  << (layout.b_transposed ? " b^T" : ""));
  const Index a_stride = (layout.a_transposed ? m : k) + layout.gap;
  const Index b_stride = (layout.b_transposed ? k : n) + layout.gap;
  const Index c_stride = n + layout.gap;
  const std::vector<float> a = random_floats((layout.a_transposed ? k : m) * a_stride, 1);
  const std::vector<float> b = random_floats((layout.b_transposed ? n : k) * b_stride, 2);
  const std::vector<float> bias = random_floats(n, 3);
  const std::vector<float> before = random_floats(m * c_stride, 4);
  const Index a_row = layout.a_transposed ? 1 : a_stride;
  const Index a_col = layout.a_transposed ? a_stride : 1;
  const Index b_row = layout.b_transposed ? 1 : b_stride;
  const Index b_col = layout.b_transposed ? b_stride : 1;

  std::vector<float> c = before;
  const AlignedFloats packed(gemm_packed_size(k, n));
  gemm_pack(packed.data(), {b.data(), b_row, b_col}, k, n);
  gemm({c.data(), c_stride}, {a.data(), a_row, a_col}, packed.data(), {m, n, k},
       {.epilogue = {layout.accumulate, layout.has_bias ? bias.data() : nullptr}});

  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < c_stride; ++j) {
      const float found = c[i * c_stride + j], old = before[i * c_stride + j];
      if (j >= n) {
        ASSERT_EQ(found, old) << "wrote after row " << i;
        continue;
      }
      double sum = (layout.accumulate ? old : 0.0) + (layout.has_bias ? bias[j] : 0.0);
      double size = 1;
      for (Index l = 0; l < k; ++l) {
        const double term = double{a[i * a_row + l * a_col]} * b[l * b_row + j * b_col];
        sum += term;
        size += std::abs(term);
      }
      ASSERT_NEAR(found, sum, 1e-6 * size) << "at " << i << ", " << j;
    }
  }
}

TEST(Gemm, AgreesWithDoublesAtAwkwardSizes) {
  const Index sizes[] = {1, 2, 3, 5, 7, 8, 15, 17, 33, 64};
  for (const Index m : sizes) {
    for (const Index n : sizes) {
      for (const Index k : {1, 2, 7, 16, 65}) expect_right({m, n, k}, {});
    }
  }
}

TEST(Gemm, TakesEveryLayoutWithGapsBetweenRows) {
  for (const Index gap : {0, 3}) {
    for (int bits = 0; bits < 16; ++bits) {
      const Case layout{.a_transposed = (bits & 1) != 0,
                        .b_transposed = (bits & 2) != 0,
                        .accumulate = (bits & 4) != 0,
                        .has_bias = (bits & 8) != 0,
                        .gap = gap};
      for (const GemmSizes& sizes :
           {GemmSizes{1, 1, 1}, GemmSizes{13, 37, 29}, GemmSizes{70, 100, 300}}) {
        expect_right(sizes, layout);
      }
    }
  }
}

TEST(Gemm, HandlesEmptyMatrices) {
  for (const bool accumulate : {false, true}) {
    for (const bool has_bias : {false, true}) {
      const Case layout{.accumulate = accumulate, .has_bias = has_bias, .gap = 1};
      expect_right({0, 5, 3}, layout);
      expect_right({5, 0, 3}, layout);
      expect_right({1, 3, 0}, layout);
      expect_right({5, 3, 0}, layout);  // a sum of nothing is zero, and the bias stays
    }
  }
}

TEST(Gemm, ARowHasTheSameBitsWhateverOtherRowsAreThere) {
  const Index most = 23, n = 50;
  const std::vector<float> bias = random_floats(n, 3);
  for (const Index k : {70, 600}) {  // one block of k, and several
    const std::vector<float> a = random_floats(most * k, 1), b = random_floats(k * n, 2);
    const AlignedFloats packed(gemm_packed_size(k, n));
    gemm_pack(packed.data(), {b.data(), n}, k, n);
    std::vector<float> alone(most * n);
    for (Index i = 0; i < most; ++i) {
      gemm({alone.data() + i * n, n}, {a.data() + i * k, k}, packed.data(), {1, n, k},
           {.epilogue = {.bias = bias.data()}});
    }
    for (Index m = 1; m <= most; ++m) {  // every number of rows that whole tiles leave over
      std::vector<float> together(m * n, -1);
      gemm({together.data(), n}, {a.data(), k}, packed.data(), {m, n, k},
           {.epilogue = {.bias = bias.data()}});
      EXPECT_EQ(together, std::vector<float>(alone.begin(), alone.begin() + m * n)) << m << " rows";
    }
  }
}

TEST(Gemm, APackedAHasTheSameBits) {
  const Index n = 50, k = 300;
  const std::vector<float> b = random_floats(k * n, 2);
  const AlignedFloats packed(gemm_packed_size(k, n));
  gemm_pack(packed.data(), {b.data(), n}, k, n);
  for (const Index m : {1, 6, 47, 48, 49, 54, 100, 150}) {
    const std::vector<float> a = random_floats(k * m, 1);
    const AlignedFloats scratch(gemm_pack_a_size(m));
    std::vector<float> direct(m * n), c(m * n);
    gemm({direct.data(), n}, {a.data(), 1, m}, packed.data(), {m, n, k});
    gemm({c.data(), n}, {a.data(), 1, m}, packed.data(), {m, n, k},
         {.pack_a = {.scratch = scratch.data()}});
    EXPECT_EQ(c, direct) << m << " rows";
  }
}

TEST(Gemm, PrefetchingChangesNothing) {
  const std::vector<float> soon = random_floats(1000, 5);
  for (const auto& [m, n, k] :
       {GemmSizes{1, 5, 3}, GemmSizes{50, 100, 300}, GemmSizes{7, 3, 0}, GemmSizes{7, 0, 3}}) {
    const std::vector<float> a = random_floats(m * k, 1), b = random_floats(k * n, 2);
    const AlignedFloats packed(gemm_packed_size(k, n));
    gemm_pack(packed.data(), {b.data(), n}, k, n);
    std::vector<float> c(m * n), prefetching(m * n);
    gemm({c.data(), n}, {a.data(), k}, packed.data(), {m, n, k});
    for (const Index count : {Index{1}, Index{1000}}) {
      gemm({prefetching.data(), n}, {a.data(), k}, packed.data(), {m, n, k},
           {.prefetch = {soon.data(), count}});
      EXPECT_EQ(prefetching, c) << m << " rows, " << count << " floats";
    }
  }
}

TEST(Gemm, AddsTheRowsOfAPackedAInTheOrderOfTheirColumns) {
  const Index n = 3, k = 300;
  const AlignedFloats packed(gemm_packed_size(k, n));
  gemm_pack(packed.data(), {random_floats(k * n, 2).data(), n}, k, n);
  for (const Index m : {1, 6, 47, 48, 49, 54, 100, 150}) {
    const std::vector<float> a = random_floats(k * m, 1);
    const AlignedFloats scratch(gemm_pack_a_size(m));
    std::vector<float> c(m * n), sums = random_floats(m, 3), expected = sums;
    for (Index l = 0; l < k; ++l) {
      for (Index i = 0; i < m; ++i) expected[i] += a[l * m + i];
    }
    gemm({c.data(), n}, {a.data(), 1, m}, packed.data(), {m, n, k},
         {.pack_a = {.scratch = scratch.data(), .row_sums = sums.data()}});
    EXPECT_EQ(sums, expected) << m << " rows";
  }
}

TEST(Gemm, AGoodRowStrideIsWholePanelsAndAnOddNumberOfLines) {
  for (const Index n : {1, 32, 33, 512, 10000}) {
    const Index stride = gemm_row_stride(n);
    EXPECT_GE(stride, n);
    EXPECT_EQ(stride % 16, 0) << n;
    EXPECT_EQ(stride / 16 % 2, 1) << n;
  }
}

}  // namespace
}  // namespace heed::kernels
