#include "heed/kernels/quantized_gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "heed/base/half.h"
#include "heed/base/random.h"
#include "heed/core/storage.h"
#include "heed/kernels/gemm.h"
#include "heed/kernels/quantized_pack.h"

namespace heed::kernels {
namespace {

constexpr WeightFormat quantized_formats[] = {WeightFormat::f16, WeightFormat::bf16,
                                              WeightFormat::int8, WeightFormat::int4};

std::vector<float> random_floats(Index count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(rng.normal());
  return values;
}

// Random rows as files hold them.
struct Weight {
  WeightFormat format;
  Index n, k;
  std::vector<std::uint8_t> rows;
  std::vector<float> scales;
  std::shared_ptr<float> storage;

  Weight(WeightFormat format, Index n, Index k)
      : format(format),
        n(n),
        k(k),
        rows(n * weight_row_bytes(format, k)),
        scales(random_floats(n * weight_row_scales(format, k), 5)) {
    Rng rng(n * 1000 + k);
    if (format == WeightFormat::int8 || format == WeightFormat::int4) {
      for (std::uint8_t& byte : rows) byte = static_cast<std::uint8_t>(rng.below(256));
    } else {
      for (Index i = 0; i < n * k; ++i) set_half(i, static_cast<float>(rng.normal()));
    }
    storage = allocate_floats(quantized_packed_bytes(format, k, n) / 4 + 1);
    pack_quantized(packed(), format, rows.data(), scales.data(), k, n);
  }

  std::uint8_t* packed() const { return reinterpret_cast<std::uint8_t*>(storage.get()); }

  // What the bytes mean, by the definition of the format.
  float value(Index j, Index i) const {
    const std::uint8_t* row = rows.data() + j * weight_row_bytes(format, k);
    const float* scale = scales.data() + j * weight_row_scales(format, k);
    switch (format) {
      case WeightFormat::f16:
        return float16_to_float(half_at(row, i));
      case WeightFormat::bf16:
        return bfloat16_to_float(half_at(row, i));
      case WeightFormat::int8:
        return static_cast<float>(static_cast<std::int8_t>(row[i])) * scale[0];
      case WeightFormat::int4:
        return static_cast<float>((i % 2 == 0 ? row[i / 2] & 15 : row[i / 2] >> 4) - 8) *
               scale[i / 32];
      case WeightFormat::f32:
        break;
    }
    ADD_FAILURE() << "not a quantized format";
    return 0;
  }

 private:
  static std::uint16_t half_at(const std::uint8_t* row, Index i) {
    return static_cast<std::uint16_t>(row[2 * i] | row[2 * i + 1] << 8);
  }
  void set_half(Index i, float number) {
    const std::uint16_t half =
        format == WeightFormat::f16 ? float_to_float16(number) : float_to_bfloat16(number);
    rows[2 * i] = static_cast<std::uint8_t>(half & 255);
    rows[2 * i + 1] = static_cast<std::uint8_t>(half >> 8);
  }
};

TEST(QuantizedGemm, ARowComesBackAsTheFloatsThatItsBytesStandFor) {
  for (const WeightFormat format : quantized_formats) {
    for (const Index k : {1, 7, 8, 31, 32, 33, 250, 256, 300}) {
      const Weight weight(format, 37, k);
      for (const Index j : {0, 1, 15, 16, 36}) {
        std::vector<float> row(k);
        dequantize_row(row.data(), {format, weight.packed()}, j, k);
        for (Index i = 0; i < k; ++i) {
          ASSERT_EQ(row[i], weight.value(j, i))
              << static_cast<int>(format) << ": " << j << ", " << i;
        }
      }
    }
  }
}

// c = a x weight^T + bias with gaps between the rows, which nobody may write to.
struct Product {
  static constexpr Index gap = 3;
  Index m;
  const Weight& weight;
  std::vector<float> a, bias, c;

  Product(Index m, const Weight& weight, bool has_bias)
      : m(m),
        weight(weight),
        a(random_floats(m * (weight.k + gap), 1)),
        bias(has_bias ? random_floats(weight.n, 2) : std::vector<float>()),
        c(random_floats(m * (weight.n + gap), 3)) {}

  const float* bias_or_null() const { return bias.empty() ? nullptr : bias.data(); }

  void run() {
    quantized_gemm({c.data(), weight.n + gap}, {a.data(), weight.k + gap},
                   {weight.format, weight.packed()}, {m, weight.n, weight.k}, bias_or_null());
  }
};

void expect_right(Index m, const Weight& weight, bool has_bias) {
  Product product(m, weight, has_bias);
  const std::vector<float> before = product.c;
  product.run();
  const Index n = weight.n, k = weight.k, gap = Product::gap;
  for (Index i = 0; i < m; ++i) {
    for (Index j = n; j < n + gap; ++j) {
      ASSERT_EQ(product.c[i * (n + gap) + j], before[i * (n + gap) + j]) << "wrote after row " << i;
    }
    for (Index j = 0; j < n; ++j) {
      double sum = has_bias ? product.bias[j] : 0.0, size = 1;
      for (Index l = 0; l < k; ++l) {
        const double term = double{product.a[i * (k + gap) + l]} * weight.value(j, l);
        sum += term;
        size += std::abs(term);
      }
      ASSERT_NEAR(product.c[i * (n + gap) + j], sum, 1e-6 * size) << "at " << i << ", " << j;
    }
  }
}

TEST(QuantizedGemm, AgreesWithDoublesAtAwkwardSizes) {
  for (const WeightFormat format : quantized_formats) {
    for (const Index n : {0, 1, 7, 16, 17, 32, 33, 50}) {
      for (const Index k : {0, 1, 7, 8, 9, 33, 256, 265, 600}) {
        const Weight weight(format, n, k);
        for (const Index m : {0, 1, 2, 3, 4, 5, 13}) {
          SCOPED_TRACE(testing::Message() << "format " << static_cast<int>(format) << ", [" << m
                                          << ", " << k << "] x [" << k << ", " << n << "]");
          expect_right(m, weight, /*has_bias=*/m % 2 == 0);
        }
      }
    }
  }
}

TEST(QuantizedGemm, HasTheBitsOfTheProductOfFloatsForAnyNumberOfRows) {
  for (const WeightFormat format : quantized_formats) {
    for (const Index n : {1, 16, 50}) {
      for (const Index k : {1, 33, 256, 600}) {
        const Weight weight(format, n, k);
        std::vector<float> floats(n * k);
        for (Index i = 0; i < n * k; ++i) floats[i] = weight.value(i / k, i % k);
        const auto panels = allocate_floats(gemm_packed_size(k, n));
        gemm_pack(panels.get(), {floats.data(), 1, k}, k, n);
        for (const Index m : {1, 2, 3, 4, 5, 6, 7, 25}) {
          for (const bool has_bias : {false, true}) {
            Product product(m, weight, has_bias);
            std::vector<float> expected = product.c;
            gemm({expected.data(), n + Product::gap}, {product.a.data(), k + Product::gap},
                 panels.get(), {m, n, k}, {.epilogue = {.bias = product.bias_or_null()}});
            product.run();
            ASSERT_EQ(product.c, expected) << "format " << static_cast<int>(format) << ", [" << m
                                           << ", " << k << "] x [" << k << ", " << n << "]";
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace heed::kernels
