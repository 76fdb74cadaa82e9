#include "heed/ops/parallel_gemm.h"

#include <cassert>

#include "heed/base/parallel.h"
#include "heed/core/storage.h"
#include "heed/kernels/gemm.h"
#include "heed/kernels/gemm_few_rows.h"
#include "heed/kernels/quantized_gemm.h"
#include "heed/kernels/quantized_pack.h"

// The GEMM loops and their operands:
//
// | product              | rows of A | kernel and its loop                 | reason              |
// | -------------------- | --------- | ----------------------------------- | ------------------- |
// | x weight^T           | up to 3   | gemm_few_rows: StreamRowsOfB        | bound by reading B  |
// | x weight^T           | 4 to 192  | gemm_few_rows: BlockPanel           | no pass to pack B   |
// | any other layout     | any       | gemm_pack, then gemm                | panels are reused   |
// | packed, A row-major  | up to 6   | gemm: StreamPanels                  | B is read in order  |
// | packed, A row-major  | more      | gemm: GemmPanels                    | tiles from L1       |
// | packed, A transposed | any       | gemm: GemmPanels, packs A too       | rows of A are apart |
// | quantized            | up to 6   | quantized_gemm: StreamPanels        | floats in registers |
// | quantized            | more      | quantized_gemm: MultiplyDequantized | floats in L1        |
//
// GemmRowsOfB, over rows that are not packed, is left to attention, whose operands are in L1. Every
// loop sums each element in the same order: one chain of fused multiply-adds for each KC of k,
// added one after another. So the bits do not depend on the loop.
namespace heed::ops {
namespace {

// Of A, so that a piece's share stays in L2.
constexpr Index max_piece_rows = 192;
constexpr Index piece_columns = 512;
constexpr Index min_pieces = 8;
constexpr Index small_work = 1 << 15;  // multiply-adds that are not worth a second thread

// The number of pieces of rows: a function of the sizes only, so that the pieces are the same for
// any number of threads. Even, so that two threads finish together.
Index num_row_pieces(Index m, Index n, Index k) {
  if (m * n * k <= small_work) return 1;
  const Index column_pieces = quotient_up(n, piece_columns);
  return round_up(std::max(quotient_up(min_pieces, column_pieces), quotient_up(m, max_piece_rows)),
                  2);
}

// Up to this many rows, B is read where it is: packing it first would cost a pass over memory, and
// one piece can take all rows.
constexpr Index few_rows = 192;

// Columns of one piece: whole panels, and enough pieces for several threads. What one thread does
// within 20 microseconds, reading B included, is not worth waking another. One row reads B once and
// does little with it: small pieces, so that threads do not wait long for each other's last one.
// Kernels take two panels at once for one row and for two.
Index few_rows_columns(Index m, Index n, Index k) {
  constexpr Index small_factor = 1 << 16, small_product = 1 << 19, pieces_of_one_row = 32;
  if (n * k <= small_factor && m * n * k <= small_product) return n;
  const Index num_pieces = m == 1 ? pieces_of_one_row : min_pieces;
  const Index num_panels = m <= 2 ? 2 : 1;
  return std::min(piece_columns,
                  round_up(quotient_up(n, num_pieces), num_panels * kernels::gemm_panel_width()));
}

void few_rows_gemm(const kernels::RowsOut& c, const Operand& a, const Operand& b,
                   const GemmSizes& sizes, const GemmOptions& options) {
  const auto [m, n, k] = sizes;
  parallel_ranges(n, few_rows_columns(m, n, k), [&, m = m, k = k](Index begin, Index end) {
    kernels::gemm_few_rows(c.from(0, begin), {a.data, a.stride},
                           {b.data + begin * b.stride, b.stride}, {m, end - begin, k},
                           options.epilogue().from_column(begin));
  });
}

struct Piece {
  Index row, column, rows, columns;
};

// Calls body(piece) for every piece of c in a product with a packed B. Pieces are whole tiles of MR
// rows, and differ by one tile at the most: so do the threads' shares, or one waits for the other.
template <typename Body>
void for_each_piece(const GemmSizes& sizes, Body&& body) {
  const Index m = sizes.m, n = sizes.n, k = sizes.k;
  if (m == 0 || n == 0) return;
  const Index row_pieces = m <= few_rows ? 1 : num_row_pieces(m, n, k);
  const Index columns = m <= few_rows ? few_rows_columns(m, n, k) : piece_columns;
  const Index num_tiles = quotient_up(m, kernels::gemm_mr);
  const auto first_row = [&](Index piece) {
    return std::min(m, num_tiles * piece / row_pieces * kernels::gemm_mr);
  };
  parallel_for(row_pieces * quotient_up(n, columns), [&](Index number) {
    const Index row = first_row(number % row_pieces), end = first_row(number % row_pieces + 1);
    const Index column = number / row_pieces * columns;
    body(Piece{row, column, end - row, std::min(columns, n - column)});
  });
}

}  // namespace

void parallel_gemm(kernels::RowsOut c, const Operand& a, const Operand& b, const GemmSizes& sizes,
                   const GemmOptions& options) {
  if (sizes.m == 0 || sizes.n == 0) return;
  if (sizes.m <= few_rows && b.transposed && !a.transposed) {
    return few_rows_gemm(c, a, b, sizes, options);
  }
  const std::shared_ptr<float> panels =
      allocate_floats(kernels::gemm_packed_size(sizes.k, sizes.n));
  parallel_pack(panels.get(), b, sizes.n, sizes.k);
  parallel_gemm_packed(c, a, panels.get(), sizes, options);
}

void parallel_pack(float* panels, const Operand& b, Index n, Index k) {
  const kernels::MatrixView view = b.view();
  const Index pack_columns = 8 * kernels::gemm_panel_width();
  parallel_ranges(n, n * k <= small_work ? n : pack_columns, [&](Index begin, Index end) {
    const float* columns = view.data + begin * view.col_stride;
    kernels::gemm_pack(panels + begin * k, {columns, view.row_stride, view.col_stride}, k,
                       end - begin);
  });
}

void parallel_gemm_packed(kernels::RowsOut c, const Operand& a, const float* panels,
                          const GemmSizes& sizes, const GemmOptions& options) {
  const Index m = sizes.m, k = sizes.k;
  const kernels::MatrixView view = a.view();
  assert(a.transposed || !options.row_sums);
  for_each_piece(sizes, [&](const Piece& piece) {
    kernels::GemmOptions kernel{.epilogue = options.epilogue().from_column(piece.column)};
    std::shared_ptr<float> scratch;
    if (a.transposed) {
      scratch = allocate_floats(kernels::gemm_pack_a_size(piece.rows));
      kernel.pack_a.scratch = scratch.get();
      const bool adds_rows = options.row_sums && piece.column == 0;
      if (adds_rows) kernel.pack_a.row_sums = options.row_sums + piece.row;
    }
    const Index next = piece.row + piece.rows;  // most likely this thread's next piece
    if (!a.transposed && a.stride == k && next < m) {
      kernel.prefetch = {a.data + next * k, std::min(piece.rows, m - next) * k};
    }
    const float* rows = view.data + piece.row * view.row_stride;
    kernels::gemm(c.from(piece.row, piece.column), {rows, view.row_stride, view.col_stride},
                  panels + piece.column * k, {piece.rows, piece.columns, k}, kernel);
  });
}

void parallel_gemm_quantized(kernels::RowsOut c, const Operand& a,
                             const kernels::QuantizedView& weight, const GemmSizes& sizes,
                             const GemmOptions& options) {
  assert(!a.transposed && !options.accumulate);
  for_each_piece(sizes, [&](const Piece& piece) {
    const std::uint8_t* panels =
        weight.packed + kernels::quantized_packed_bytes(weight.format, sizes.k, piece.column);
    kernels::quantized_gemm(c.from(piece.row, piece.column),
                            {a.data + piece.row * a.stride, a.stride}, {weight.format, panels},
                            {piece.rows, piece.columns, sizes.k},
                            options.epilogue().from_column(piece.column).bias);
  });
}

}  // namespace heed::ops
