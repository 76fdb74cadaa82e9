// Events of a training run, sent to every open page.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "heed/explore/training_watch.h"
#include "heed/serve/event_stream.h"

namespace heed::explore {

class TrainingEvents {
 public:
  explicit TrainingEvents(const std::string& model_folder,
                          std::chrono::milliseconds between_looks = std::chrono::milliseconds(500));
  ~TrainingEvents();
  TrainingEvents(const TrainingEvents&) = delete;
  TrainingEvents& operator=(const TrainingEvents&) = delete;

  // A stream gets the whole history first, then the events of TrainingWatch until it is closed.
  void add(std::shared_ptr<serve::EventStream> stream);

 private:
  using Streams = std::vector<std::shared_ptr<serve::EventStream>>;

  void run();
  void send_events();

  TrainingWatch watch_;
  std::chrono::milliseconds between_looks_;
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  Streams fresh_;  // clients that have received nothing yet
  Streams streams_;
  bool is_over_ = false;
  std::thread thread_;  // the last member: it uses all others
};

}  // namespace heed::explore
