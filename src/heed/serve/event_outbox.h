// Queue of events from their senders, on any thread, to the connection that writes them.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "heed/serve/event_stream.h"

namespace heed::serve {

class EventOutbox : public EventStream {
 public:
  // It closes when more than `max_waiting` bytes wait for a client that has not taken the events
  // before. One event may be larger. `wake` is called when there is something to take; never after
  // close().
  EventOutbox(std::size_t max_waiting, std::function<void()> wake)
      : max_waiting_(max_waiting), wake_(std::move(wake)) {}

  // What handlers get: the outbox, which is complete when they have let go of it.
  static std::shared_ptr<EventStream> stream(const std::shared_ptr<EventOutbox>& outbox);

  bool send(std::string_view name, std::string_view data) override;
  bool is_open() const override;
  void add_comment();  // means nothing, and keeps the connection alive
  void close();

  struct Batch {
    std::string text;  // may be empty
    bool is_last;      // closed, or complete and all taken
  };
  Batch take();

 private:
  void complete();

  std::size_t max_waiting_;
  std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::string waiting_;
  bool is_open_ = true;
  bool is_complete_ = false;
};

}  // namespace heed::serve
