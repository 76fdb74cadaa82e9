// Threads: work is split into numbered pieces, which a thread pool runs.
//
// The number of pieces must depend on the sizes of the work alone, never on the number of threads,
// and each piece must write to memory of its own. Then the bits do not depend on the thread count.
#pragma once

#include <algorithm>
#include <type_traits>

#include "heed/base/index.h"

namespace heed {

inline constexpr int max_num_threads = 1024;

// From 1 to max_num_threads. The default is OMP_NUM_THREADS if set, otherwise available_cpus().
// Where the system refuses to start so many, the work is done by fewer.
void set_num_threads(int num_threads);
int num_threads();

namespace detail {
// static_shares: each thread starts with its own contiguous share of the pieces, and then steals
// from the others. dynamic: every thread takes the next piece, in order.
enum class Schedule { static_shares, dynamic };
using PieceFunction = void (*)(void* body, Index piece);
void run_pieces(Index num_pieces, PieceFunction function, void* body, Schedule schedule);

template <typename Body>
void run_pieces(Index num_pieces, Body&& body, Schedule schedule) {
  using Plain = std::remove_reference_t<Body>;
  run_pieces(
      num_pieces, [](void* b, Index piece) { (*static_cast<Plain*>(b))(piece); },
      const_cast<void*>(static_cast<const void*>(&body)), schedule);
}
}  // namespace detail

// Calls body(piece) once for every piece in [0, num_pieces), in any order, on any thread, and
// returns when all are done. The first exception is rethrown here. A call from inside a piece,
// or while a call of another thread is running, runs its pieces on the calling thread.
template <typename Body>
void parallel_for(Index num_pieces, Body&& body) {
  detail::run_pieces(num_pieces, body, detail::Schedule::static_shares);
}

// The same for long pieces of unequal length, the longest first: an idle thread takes the next one.
template <typename Body>
void parallel_longest_first(Index num_pieces, Body&& body) {
  detail::run_pieces(num_pieces, body, detail::Schedule::dynamic);
}

// Calls body(begin, end) for consecutive ranges of at most `grain` items that cover [0, count).
template <typename Body>
void parallel_ranges(Index count, Index grain, Body&& body) {
  parallel_for(quotient_up(count, grain),
               [&](Index piece) { body(piece * grain, std::min(count, (piece + 1) * grain)); });
}

}  // namespace heed
