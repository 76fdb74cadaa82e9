// Threads: work is cut into numbered pieces, and the pieces are shared out.
//
// The number of pieces must depend on the sizes of the work alone, never on the number of threads,
// and each piece must write to its own place. Then results are the same bits for any thread count.
#pragma once

#include <algorithm>
#include <type_traits>

#include "heed/base/index.h"

namespace heed {

// At least 1. The default is OMP_NUM_THREADS if set, otherwise the processors this process may use.
void set_num_threads(int num_threads);
int num_threads();

namespace detail {
// Each thread begins with its own share of the pieces, or all take the next one in their order.
enum class Sharing { shares, in_order };
using PieceFunction = void (*)(void* body, Index piece);
void run_pieces(Index num_pieces, PieceFunction function, void* body, Sharing sharing);

template <typename Body>
void run_pieces(Index num_pieces, Body&& body, Sharing sharing) {
  using Plain = std::remove_reference_t<Body>;
  run_pieces(
      num_pieces, [](void* b, Index piece) { (*static_cast<Plain*>(b))(piece); },
      const_cast<void*>(static_cast<const void*>(&body)), sharing);
}
}  // namespace detail

// Calls body(piece) once for every piece in [0, num_pieces), in any order, on any thread, and
// returns when all are done. The first exception is thrown again here. A call from inside a piece,
// or while another thread's call is under way, runs its pieces on the calling thread.
template <typename Body>
void parallel_for(Index num_pieces, Body&& body) {
  detail::run_pieces(num_pieces, body, detail::Sharing::shares);
}

// The same for long pieces of unequal length, the longest first: whoever is free takes the next.
template <typename Body>
void parallel_longest_first(Index num_pieces, Body&& body) {
  detail::run_pieces(num_pieces, body, detail::Sharing::in_order);
}

// Calls body(begin, end) for consecutive ranges of at most `grain` items that cover [0, count).
template <typename Body>
void parallel_ranges(Index count, Index grain, Body&& body) {
  parallel_for(quotient_up(count, grain),
               [&](Index piece) { body(piece * grain, std::min(count, (piece + 1) * grain)); });
}

}  // namespace heed
