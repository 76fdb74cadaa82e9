#include "heed/serve/worker.h"

#include <utility>

namespace heed::serve {

Worker::Worker() : thread_([this] { run(); }) {}

void Worker::add(std::function<void()> job) {
  const std::lock_guard lock(mutex_);
  if (is_stopped_) return;
  jobs_.push_back(std::move(job));
  changed_.notify_one();
}

void Worker::stop() {
  std::deque<std::function<void()>> dropped;  // destroyed without the lock
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    dropped.swap(jobs_);
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void Worker::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return is_stopped_ || !jobs_.empty(); });
    if (is_stopped_) return;
    std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
  }
}

}  // namespace heed::serve
