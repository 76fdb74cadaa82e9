#include "heed/explore/training_events.h"

#include <exception>
#include <nlohmann/json.hpp>
#include <utility>

namespace heed::explore {

TrainingEvents::TrainingEvents(const std::string& model_folder,
                               std::chrono::milliseconds between_looks)
    : watch_(model_folder), between_looks_(between_looks), thread_([this] { run(); }) {}

TrainingEvents::~TrainingEvents() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void TrainingEvents::add(std::shared_ptr<serve::EventStream> stream) {
  {
    const std::lock_guard lock(mutex_);
    fresh_.push_back(std::move(stream));
  }
  changed_.notify_all();
}

// Sleeps while there are no clients.
void TrainingEvents::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return is_over_ || !fresh_.empty() || !streams_.empty(); });
    if (is_over_) return;
    try {
      send_events();
    } catch (const std::exception&) {
      // The folder was moved or removed meanwhile. The next look starts where this one did.
    }
    changed_.wait_for(lock, between_looks_, [this] { return is_over_ || !fresh_.empty(); });
  }
}

void TrainingEvents::send_events() {
  for (const TrainingEvent& event : watch_.look()) {
    for (const auto& stream : streams_) stream->send(event.name, event.data);
  }
  if (!fresh_.empty()) {
    const std::string history = watch_.history().dump();
    for (auto& stream : fresh_) {
      stream->send("history", history);
      streams_.push_back(std::move(stream));
    }
    fresh_.clear();
  }
  std::erase_if(streams_, [](const auto& stream) { return !stream->is_open(); });
}

}  // namespace heed::explore
