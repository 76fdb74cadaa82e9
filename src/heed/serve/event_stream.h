// Server-sent events to one client.
#pragma once

#include <string_view>

namespace heed::serve {

class EventStream {
 public:
  virtual ~EventStream() = default;

  // Both may be called from any thread. `send` does not block: events of a client that is too
  // slow pile up to a limit, then the stream is closed. False: it is closed.
  virtual bool send(std::string_view name, std::string_view data) = 0;
  virtual bool is_open() const = 0;
};

}  // namespace heed::serve
