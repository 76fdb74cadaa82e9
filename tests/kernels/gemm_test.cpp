#include "heed/kernels/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <new>
#include <vector>

#include "heed/base/random.h"

namespace heed::kernels {
namespace {

using std::int64_t;

struct Sizes {
  int64_t m, n, k;
};

// How the factors lie in memory, and what happens to c.
struct Case {
  bool a_transposed = false, b_transposed = false, accumulate = false, has_bias = false;
  int64_t gap = 0;  // unused floats behind each stored row
};

std::vector<float> random_floats(int64_t count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(rng.normal());
  return values;
}

// Room aligned as gemm_pack asks for.
class AlignedFloats {
 public:
  explicit AlignedFloats(int64_t count)
      : data_(static_cast<float*>(::operator new(count * sizeof(float) + 64, alignment))) {}
  ~AlignedFloats() { ::operator delete(data_, alignment); }
  AlignedFloats(const AlignedFloats&) = delete;
  AlignedFloats& operator=(const AlignedFloats&) = delete;
  float* data() const { return data_; }

 private:
  static constexpr std::align_val_t alignment{64};
  float* data_;
};

void expect_right(const Sizes& sizes, const Case& layout) {
  const auto [m, n, k] = sizes;
  SCOPED_TRACE(testing::Message() << "[" << m << ", " << k << "] x [" << k << ", " << n << "]"
                                  << (layout.a_transposed ? " a^T" : "")
                                  << (layout.b_transposed ? " b^T" : ""));
  const int64_t a_stride = (layout.a_transposed ? m : k) + layout.gap;
  const int64_t b_stride = (layout.b_transposed ? k : n) + layout.gap;
  const int64_t c_stride = n + layout.gap;
  const std::vector<float> a = random_floats((layout.a_transposed ? k : m) * a_stride, 1);
  const std::vector<float> b = random_floats((layout.b_transposed ? n : k) * b_stride, 2);
  const std::vector<float> bias = random_floats(n, 3);
  const std::vector<float> before = random_floats(m * c_stride, 4);
  const int64_t a_row = layout.a_transposed ? 1 : a_stride;
  const int64_t a_col = layout.a_transposed ? a_stride : 1;
  const int64_t b_row = layout.b_transposed ? 1 : b_stride;
  const int64_t b_col = layout.b_transposed ? b_stride : 1;

  std::vector<float> c = before;
  const AlignedFloats packed(gemm_packed_size(k, n));
  gemm_pack(packed.data(), b.data(), b_row, b_col, k, n);
  gemm(c.data(), c_stride, a.data(), a_row, a_col, packed.data(), m, n, k, layout.accumulate,
       layout.has_bias ? bias.data() : nullptr);

  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < c_stride; ++j) {
      const float found = c[i * c_stride + j], old = before[i * c_stride + j];
      if (j >= n) {
        ASSERT_EQ(found, old) << "wrote behind row " << i;
        continue;
      }
      double sum = (layout.accumulate ? old : 0.0) + (layout.has_bias ? bias[j] : 0.0);
      double size = 1;
      for (int64_t l = 0; l < k; ++l) {
        const double term = double{a[i * a_row + l * a_col]} * b[l * b_row + j * b_col];
        sum += term;
        size += std::abs(term);
      }
      ASSERT_NEAR(found, sum, 1e-6 * size) << "at " << i << ", " << j;
    }
  }
}

TEST(Gemm, AgreesWithDoublesAtAwkwardSizes) {
  const int64_t sizes[] = {1, 2, 3, 5, 7, 8, 15, 17, 33, 64};
  for (const int64_t m : sizes) {
    for (const int64_t n : sizes) {
      for (const int64_t k : {1, 2, 7, 16, 65}) expect_right({m, n, k}, {});
    }
  }
}

TEST(Gemm, TakesEveryLayoutWithGapsBetweenRows) {
  for (const int64_t gap : {0, 3}) {
    for (int bits = 0; bits < 16; ++bits) {
      const Case layout{.a_transposed = (bits & 1) != 0,
                        .b_transposed = (bits & 2) != 0,
                        .accumulate = (bits & 4) != 0,
                        .has_bias = (bits & 8) != 0,
                        .gap = gap};
      for (const Sizes& sizes : {Sizes{1, 1, 1}, Sizes{13, 37, 29}, Sizes{70, 100, 300}}) {
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
  const int64_t most = 23, n = 50;
  const std::vector<float> bias = random_floats(n, 3);
  for (const int64_t k : {70, 600}) {  // one block of k, and several
    const std::vector<float> a = random_floats(most * k, 1), b = random_floats(k * n, 2);
    const AlignedFloats packed(gemm_packed_size(k, n));
    gemm_pack(packed.data(), b.data(), n, 1, k, n);
    std::vector<float> alone(most * n);
    for (int64_t i = 0; i < most; ++i) {
      gemm(alone.data() + i * n, n, a.data() + i * k, k, 1, packed.data(), 1, n, k, false,
           bias.data());
    }
    for (int64_t m = 1; m <= most; ++m) {  // every number of rows that register blocks leave over
      std::vector<float> together(m * n, -1);
      gemm(together.data(), n, a.data(), k, 1, packed.data(), m, n, k, false, bias.data());
      EXPECT_EQ(together, std::vector<float>(alone.begin(), alone.begin() + m * n)) << m << " rows";
    }
  }
}

TEST(Gemm, AGatheredFactorHasTheSameBits) {
  const int64_t n = 50, k = 300;
  const std::vector<float> b = random_floats(k * n, 2);
  const AlignedFloats packed(gemm_packed_size(k, n));
  gemm_pack(packed.data(), b.data(), n, 1, k, n);
  for (const int64_t m : {1, 6, 47, 48, 49, 54, 100, 150}) {
    const std::vector<float> a = random_floats(k * m, 1);
    const AlignedFloats gathered(gemm_gathered_size(m));
    std::vector<float> direct(m * n), c(m * n);
    gemm(direct.data(), n, a.data(), 1, m, packed.data(), m, n, k, false, nullptr);
    gemm(c.data(), n, a.data(), 1, m, packed.data(), m, n, k, false, nullptr, {gathered.data()});
    EXPECT_EQ(c, direct) << m << " rows";
  }
}

TEST(Gemm, AskingForWhatIsReadNextChangesNothing) {
  const std::vector<float> soon = random_floats(1000, 5);
  for (const auto& [m, n, k] :
       {Sizes{1, 5, 3}, Sizes{50, 100, 300}, Sizes{7, 3, 0}, Sizes{7, 0, 3}}) {
    const std::vector<float> a = random_floats(m * k, 1), b = random_floats(k * n, 2);
    const AlignedFloats packed(gemm_packed_size(k, n));
    gemm_pack(packed.data(), b.data(), n, 1, k, n);
    std::vector<float> c(m * n), asking(m * n);
    gemm(c.data(), n, a.data(), k, 1, packed.data(), m, n, k, false, nullptr);
    for (const int64_t count : {int64_t{1}, int64_t{1000}}) {
      gemm(asking.data(), n, a.data(), k, 1, packed.data(), m, n, k, false, nullptr, {},
           {soon.data(), count});
      EXPECT_EQ(asking, c) << m << " rows, " << count << " floats";
    }
  }
}

TEST(Gemm, AddsTheRowsOfAGatheredFactorInTheOrderOfTheirColumns) {
  const int64_t n = 3, k = 300;
  const AlignedFloats packed(gemm_packed_size(k, n));
  gemm_pack(packed.data(), random_floats(k * n, 2).data(), n, 1, k, n);
  for (const int64_t m : {1, 6, 47, 48, 49, 54, 100, 150}) {
    const std::vector<float> a = random_floats(k * m, 1);
    const AlignedFloats gathered(gemm_gathered_size(m));
    std::vector<float> c(m * n), sums = random_floats(m, 3), expected = sums;
    for (int64_t l = 0; l < k; ++l) {
      for (int64_t i = 0; i < m; ++i) expected[i] += a[l * m + i];
    }
    gemm(c.data(), n, a.data(), 1, m, packed.data(), m, n, k, false, nullptr,
         {gathered.data(), sums.data()});
    EXPECT_EQ(sums, expected) << m << " rows";
  }
}

TEST(Gemm, AGoodRowStrideIsWholePanelsAndAnOddNumberOfLines) {
  for (const int64_t n : {1, 32, 33, 512, 10000}) {
    const int64_t stride = gemm_row_stride(n);
    EXPECT_GE(stride, n);
    EXPECT_EQ(stride % 16, 0) << n;
    EXPECT_EQ(stride / 16 % 2, 1) << n;
  }
}

}  // namespace
}  // namespace heed::kernels
