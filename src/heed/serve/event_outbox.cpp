#include "heed/serve/event_outbox.h"

#include <algorithm>
#include <utility>

namespace heed::serve {
namespace {

std::string event_text(std::string_view name, std::string_view data) {
  std::string text = "event: " + std::string(name) + '\n';
  for (std::size_t begin = 0; begin <= data.size();) {  // an empty line would end the event
    const std::size_t end = std::min(data.find('\n', begin), data.size());
    text += "data: " + std::string(data.substr(begin, end - begin)) + '\n';
    begin = end + 1;
  }
  return text + '\n';
}

}  // namespace

std::shared_ptr<EventStream> EventOutbox::stream(const std::shared_ptr<EventOutbox>& outbox) {
  return {outbox.get(), [outbox](EventStream*) { outbox->complete(); }};
}

bool EventOutbox::send(std::string_view name, std::string_view data) {
  const std::lock_guard lock(mutex_);
  if (!is_open_) return false;
  const bool is_behind = !waiting_.empty();
  waiting_ += event_text(name, data);
  if (is_behind && waiting_.size() > max_waiting_) is_open_ = false;
  wake_();
  return is_open_;
}

bool EventOutbox::is_open() const {
  const std::lock_guard lock(mutex_);
  return is_open_;
}

void EventOutbox::add_comment() {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) waiting_ = ":\n\n";
}

void EventOutbox::close() {
  const std::lock_guard lock(mutex_);
  is_open_ = false;
}

void EventOutbox::complete() {
  const std::lock_guard lock(mutex_);
  is_complete_ = true;
  if (is_open_) wake_();
}

EventOutbox::Batch EventOutbox::take() {
  const std::lock_guard lock(mutex_);
  if (!is_open_) return {{}, true};
  Batch batch{std::exchange(waiting_, {}), false};
  batch.is_last = is_complete_ && batch.text.empty();
  return batch;
}

}  // namespace heed::serve
