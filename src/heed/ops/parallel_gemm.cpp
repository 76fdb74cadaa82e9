#include "heed/ops/parallel_gemm.h"

#include <cassert>

#include "heed/base/parallel.h"
#include "heed/core/storage.h"
#include "heed/kernels/gemm.h"
#include "heed/kernels/gemm_few_rows.h"
#include "heed/kernels/quantized_gemm.h"
#include "heed/kernels/quantized_pack.h"

namespace heed::ops {
namespace {

// Of a, so that a piece's share stays in the second-level cache.
constexpr Index max_piece_rows = 192;
constexpr Index piece_columns = 512;
constexpr Index min_pieces = 8;
constexpr Index small_work = 1 << 15;  // multiply-adds that are not worth a second thread

// Into how many pieces rows are cut: a function of the sizes only, so that the pieces are the same
// for any threads. An even number of them: two threads end together.
Index num_row_pieces(Index m, Index n, Index k) {
  if (m * n * k <= small_work) return 1;
  const Index column_pieces = quotient_up(n, piece_columns);
  return rounded_up(
      std::max(quotient_up(min_pieces, column_pieces), quotient_up(m, max_piece_rows)), 2);
}

// Up to this many rows, b is read as it lies: packing it first would cost a pass over memory, and
// one piece can take all rows.
constexpr Index few_rows = 192;

// Columns of one piece: whole panels, and enough pieces for several threads. What one thread does
// within 20 microseconds, reading b included, is not worth waking another. One row reads b once and
// does little with it: small pieces, so that threads do not wait long for each other's last one.
// Kernels take two panels at once for one row and for two.
Index few_rows_columns(Index m, Index n, Index k) {
  constexpr Index small_factor = 1 << 16, small_product = 1 << 19, pieces_of_one_row = 32;
  if (n * k <= small_factor && m * n * k <= small_product) return n;
  const Index num_pieces = m == 1 ? pieces_of_one_row : min_pieces;
  const Index num_panels = m <= 2 ? 2 : 1;
  return std::min(piece_columns,
                  rounded_up(quotient_up(n, num_pieces), num_panels * kernels::gemm_panel_width()));
}

void few_rows_gemm(float* c, Index c_stride, const Factor& a, const Factor& b, Index m, Index n,
                   Index k, const GemmOptions& options) {
  parallel_ranges(n, few_rows_columns(m, n, k), [&](Index begin, Index end) {
    kernels::gemm_few_rows(c + begin, c_stride, a.data, a.stride, b.data + begin * b.stride,
                           b.stride, m, end - begin, k, options.accumulate,
                           options.bias ? options.bias + begin : nullptr);
  });
}

struct Piece {
  Index row, column, rows, columns;
};

// Calls body(piece) for every piece of c in a product with packed panels. Pieces are whole register
// blocks, and differ by one at the most: so do the threads' shares, or one waits for the other.
template <typename Body>
void for_each_piece(Index m, Index n, Index k, Body&& body) {
  if (m == 0 || n == 0) return;
  const Index row_pieces = m <= few_rows ? 1 : num_row_pieces(m, n, k);
  const Index columns = m <= few_rows ? few_rows_columns(m, n, k) : piece_columns;
  const Index num_blocks = quotient_up(m, kernels::gemm_block_rows);
  const auto first_row = [&](Index piece) {
    return std::min(m, num_blocks * piece / row_pieces * kernels::gemm_block_rows);
  };
  parallel_for(row_pieces * quotient_up(n, columns), [&](Index number) {
    const Index row = first_row(number % row_pieces), end = first_row(number % row_pieces + 1);
    const Index column = number / row_pieces * columns;
    body(Piece{row, column, end - row, std::min(columns, n - column)});
  });
}

}  // namespace

void parallel_gemm(float* c, Index c_stride, const Factor& a, const Factor& b, Index m, Index n,
                   Index k, const GemmOptions& options) {
  if (m == 0 || n == 0) return;
  if (m <= few_rows && b.transposed && !a.transposed) {
    return few_rows_gemm(c, c_stride, a, b, m, n, k, options);
  }
  const std::shared_ptr<float> panels = allocate_floats(kernels::gemm_packed_size(k, n));
  parallel_pack(panels.get(), b, n, k);
  parallel_gemm_packed(c, c_stride, a, panels.get(), m, n, k, options);
}

void parallel_pack(float* panels, const Factor& b, Index n, Index k) {
  const Index b_row = b.transposed ? 1 : b.stride;
  const Index b_col = b.transposed ? b.stride : 1;
  const Index pack_columns = 8 * kernels::gemm_panel_width();
  parallel_ranges(n, n * k <= small_work ? n : pack_columns, [&](Index begin, Index end) {
    kernels::gemm_pack(panels + begin * k, b.data + begin * b_col, b_row, b_col, k, end - begin);
  });
}

void parallel_gemm_packed(float* c, Index c_stride, const Factor& a, const float* panels, Index m,
                          Index n, Index k, const GemmOptions& options) {
  const Index a_row = a.transposed ? 1 : a.stride;
  const Index a_col = a.transposed ? a.stride : 1;
  assert(a.transposed || !options.row_sums);
  for_each_piece(m, n, k, [&](const Piece& piece) {
    std::shared_ptr<float> room;
    kernels::Gathering gathering;
    if (a.transposed) {
      room = allocate_floats(kernels::gemm_gathered_size(piece.rows));
      gathering.room = room.get();
    }
    kernels::ReadNext next;  // this thread's next piece has most likely the rows behind these
    const Index behind = piece.row + piece.rows;
    if (!a.transposed && a.stride == k && behind < m) {
      next = {a.data + behind * k, std::min(piece.rows, m - behind) * k};
    }
    if (options.row_sums && piece.column == 0) gathering.row_sums = options.row_sums + piece.row;
    kernels::gemm(c + piece.row * c_stride + piece.column, c_stride, a.data + piece.row * a_row,
                  a_row, a_col, panels + piece.column * k, piece.rows, piece.columns, k,
                  options.accumulate, options.bias ? options.bias + piece.column : nullptr,
                  gathering, next);
  });
}

void parallel_gemm_quantized(float* c, Index c_stride, const Factor& a,
                             kernels::WeightFormat format, const std::uint8_t* packed, Index m,
                             Index n, Index k, const GemmOptions& options) {
  assert(!a.transposed && !options.accumulate);
  for_each_piece(m, n, k, [&](const Piece& piece) {
    kernels::quantized_gemm(
        c + piece.row * c_stride + piece.column, c_stride, a.data + piece.row * a.stride, a.stride,
        format, packed + kernels::quantized_packed_bytes(format, k, piece.column), piece.rows,
        piece.columns, k, options.bias ? options.bias + piece.column : nullptr);
  });
}

}  // namespace heed::ops
