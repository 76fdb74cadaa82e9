// Matrix products of one thread over packed factors.
#pragma once

#include <cstdint>

namespace heed::kernels {

// Columns of b are packed in panels of this width (it depends on the processor's vectors).
std::int64_t gemm_panel_width() noexcept;

// Rows of c that are made at a time: work is best cut into whole blocks of them.
constexpr std::int64_t gemm_block_rows = 6;

// The floats that a packed b [k, n] needs: n rounded up to whole panels.
std::int64_t gemm_packed_size(std::int64_t k, std::int64_t n) noexcept;

// Packs b, where b(i, j) is b[i * b_row + j * b_col] and one of the strides is 1. The panel that
// holds column j, a multiple of the panel width, begins at packed + j * k. `packed` is aligned to
// 64 bytes.
void gemm_pack(float* packed, const float* b, std::int64_t b_row, std::int64_t b_col,
               std::int64_t k, std::int64_t n) noexcept;

// An a with a_row 1 can be copied part by part and read in order.
struct Gathering {
  float* room = nullptr;      // of gemm_gathered_size(m) floats; null: a is read as it lies
  float* row_sums = nullptr;  // [m], unless null: += each row of a, one column after another
};
std::int64_t gemm_gathered_size(std::int64_t m) noexcept;

// What the caller reads next. A product asks for it meanwhile, some cache lines with every register
// block: asked for all at once, or not before it is read, it would be waited for.
struct ReadNext {
  const float* data = nullptr;
  std::int64_t count = 0;  // floats
};

// c [m, n] = a [m, k] x b [k, n], or += with accumulate; then + bias [n] unless null. a(i, l) is
// a[i * a_row + l * a_col].
void gemm(float* c, std::int64_t c_stride, const float* a, std::int64_t a_row, std::int64_t a_col,
          const float* packed, std::int64_t m, std::int64_t n, std::int64_t k, bool accumulate,
          const float* bias, const Gathering& gathering = {}, const ReadNext& next = {}) noexcept;

// A good stride for rows of n floats that are read column by column: whole panels, and an odd
// number of cache lines, so that neighbouring rows spread over all sets of the cache.
std::int64_t gemm_row_stride(std::int64_t n) noexcept;

}  // namespace heed::kernels
