#include "heed/base/parallel.h"

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "heed/base/available_cpus.h"
#include "heed/base/error.h"

namespace heed {
namespace {

thread_local bool inside_a_piece = false;

// A worker without work spins this many times before it sleeps: the time between two operations of
// one model is shorter than waking a thread.
constexpr int spins_before_sleep = 4000;

void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

int default_num_threads() {
  const char* text = std::getenv("OMP_NUM_THREADS");
  const long requested = text == nullptr ? 0 : std::strtol(text, nullptr, 10);
  return static_cast<int>(
      std::min<long>(requested > 0 ? requested : available_cpus(), max_num_threads));
}

constexpr std::size_t cache_line = 64;

// Pieces that one thread starts with. A thread that has finished its own steals those of others.
struct alignas(cache_line) Share {
  std::atomic<Index> next{0};
  Index end = 0;
};

// One job at a time. A thread has the same share of every job, so that its
// own caches still hold what it computed for these rows in the previous job.
class ThreadPool {
 public:
  // Starts as many threads as the system allows; the results are the same with fewer.
  explicit ThreadPool(int wanted_threads)
      : wanted_threads_(wanted_threads), shares_(static_cast<std::size_t>(wanted_threads)) {
    workers_.reserve(shares_.size());
    try {
      for (std::size_t i = 1; i < shares_.size(); ++i) {
        workers_.emplace_back([this, i] { work(i); });
      }
    } catch (const std::exception&) {  // a limit of processes or of memory
    }
  }

  ~ThreadPool() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
      generation_.fetch_add(1);
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  int wanted_threads() const { return wanted_threads_; }

  void run(Index num_pieces, detail::PieceFunction function, void* body,
           detail::Schedule schedule) {
    function_ = function;
    body_ = body;
    const Index num_threads = std::ssize(workers_) + 1;
    const Index num_shares = schedule == detail::Schedule::static_shares ? num_threads : 1;
    for (Index i = 0; i < std::ssize(shares_); ++i) {
      Share& share = shares_[static_cast<std::size_t>(i)];
      share.end = i < num_shares ? num_pieces * (i + 1) / num_shares : 0;
      share.next.store(i < num_shares ? num_pieces * i / num_shares : 0, std::memory_order_relaxed);
    }
    failure_ = nullptr;
    busy_workers_.store(static_cast<int>(workers_.size()), std::memory_order_relaxed);
    {
      std::lock_guard lock(mutex_);
      generation_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    take_pieces(0);
    wait_for_workers();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void work(std::size_t own) {
    std::uint64_t seen = 0;
    while (true) {
      seen = wait_for_job(seen);
      if (stopping_) return;
      take_pieces(own);
      busy_workers_.fetch_sub(1, std::memory_order_release);
    }
  }

  // The last pieces end within microseconds, unless other programs occupy the CPUs.
  void wait_for_workers() const {
    for (int spins = 0; busy_workers_.load(std::memory_order_acquire) > 0; ++spins) {
      if (spins < spins_before_sleep) {
        pause_briefly();
      } else {
        std::this_thread::yield();
      }
    }
  }

  std::uint64_t wait_for_job(std::uint64_t seen) {
    for (int i = 0; i < spins_before_sleep; ++i) {
      const std::uint64_t now = generation_.load(std::memory_order_acquire);
      if (now != seen) return now;
      pause_briefly();
    }
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return generation_.load(std::memory_order_acquire) != seen; });
    return generation_.load(std::memory_order_acquire);
  }

  void take_pieces(std::size_t own) {
    inside_a_piece = true;
    try {
      for (std::size_t i = 0; i < shares_.size(); ++i) {
        Share& share = shares_[(own + i) % shares_.size()];
        for (Index piece;
             (piece = share.next.fetch_add(1, std::memory_order_relaxed)) < share.end;) {
          function_(body_, piece);
        }
      }
    } catch (...) {
      std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      for (Share& share : shares_) share.next.store(share.end, std::memory_order_relaxed);
    }
    inside_a_piece = false;
  }

  int wanted_threads_;
  std::vector<Share> shares_;  // of the caller, then of each worker; those of others stay empty
  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<std::uint64_t> generation_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<int> busy_workers_{0};
  detail::PieceFunction function_ = nullptr;
  void* body_ = nullptr;
  std::exception_ptr failure_;
};

std::mutex pool_mutex;  // held for the length of one job
std::unique_ptr<ThreadPool> pool;
std::atomic<int> chosen_num_threads{0};

void run_serially(Index num_pieces, detail::PieceFunction function, void* body) {
  for (Index piece = 0; piece < num_pieces; ++piece) function(body, piece);
}

}  // namespace

void set_num_threads(int num_threads) {
  check_as(ErrorKind::usage, num_threads >= 1 && num_threads <= max_num_threads,
           "`threads`: expected a whole number from 1 to ", max_num_threads, ", found ",
           num_threads);
  chosen_num_threads = num_threads;
}

int num_threads() {
  if (chosen_num_threads == 0) chosen_num_threads = default_num_threads();
  return chosen_num_threads;
}

void detail::run_pieces(Index num_pieces, PieceFunction function, void* body, Schedule schedule) {
  const int threads = num_threads();
  if (num_pieces <= 1 || threads == 1 || inside_a_piece) {
    return run_serially(num_pieces, function, body);
  }
  std::unique_lock lock(pool_mutex, std::try_to_lock);
  if (!lock.owns_lock()) return run_serially(num_pieces, function, body);
  if (!pool || pool->wanted_threads() != threads) {
    pool.reset();  // its threads first: they count towards the limits of the system
    pool = std::make_unique<ThreadPool>(threads);
  }
  pool->run(num_pieces, function, body, schedule);
}

}  // namespace heed
