#include "heed/kernels/gemm_few_rows.h"

#include <gtest/gtest.h>

#include <vector>

#include "heed/base/random.h"
#include "heed/core/storage.h"
#include "heed/kernels/gemm.h"

namespace heed::kernels {
namespace {

std::vector<float> random_floats(Index count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(rng.normal());
  return values;
}

TEST(GemmFewRows, HasTheBitsOfThePackedProduct) {
  const Index gap = 3;  // unused floats after each stored row
  for (const Index m : {0, 1, 2, 3, 5, 6, 7, 25}) {
    for (const Index n : {0, 1, 7, 8, 9, 16, 50}) {
      for (const Index k : {0, 1, 3, 4, 33, 256, 258, 600}) {
        const std::vector<float> a = random_floats(m * (k + gap), 1);
        const std::vector<float> b = random_floats(n * (k + gap), 2);
        const std::vector<float> bias = random_floats(n, 3);
        const auto panels = allocate_floats(gemm_packed_size(k, n));
        gemm_pack(panels.get(), {b.data(), 1, k + gap}, k, n);
        for (const bool accumulate : {false, true}) {
          for (const float* added : {static_cast<const float*>(nullptr), bias.data()}) {
            std::vector<float> expected = random_floats(m * (n + gap), 4), found = expected;
            gemm({expected.data(), n + gap}, {a.data(), k + gap}, panels.get(), {m, n, k},
                 {.epilogue = {accumulate, added}});
            gemm_few_rows({found.data(), n + gap}, {a.data(), k + gap}, {b.data(), k + gap},
                          {m, n, k}, {accumulate, added});
            ASSERT_EQ(found, expected) << "[" << m << ", " << k << "] x [" << k << ", " << n << "]";
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace heed::kernels
