// One client's connection: reads requests, writes answers or events. Boost.Beast stays in its
// source.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "heed/serve/dispatcher.h"

namespace boost::asio {
class io_context;
}

namespace heed::serve {

class ConnectionPool;

struct ConnectionLimits {
  std::size_t max_head = 16 << 10;  // bytes of request line and headers
  std::size_t max_body = 1 << 20;
  std::size_t max_waiting_events = 4 << 20;          // bytes that a slow client leaves lying
  std::chrono::milliseconds timeout{30'000};         // to send a request, take an answer, be idle
  std::chrono::milliseconds stranger_timeout{5000};  // to send the first head that passes the gate
  std::chrono::milliseconds event_pause{15'000};     // a comment keeps a silent stream alive
};

class Connection {
 public:
  // A stranger becomes a member with its first request that passes the gate, and a stream when it
  // asks for events.
  enum class Standing { stranger, member, stream };

  virtual ~Connection() = default;
  // Takes the socket, an accepted one, and reads on it until either side closes it. All work is
  // done by the thread that runs the context; so must these be. It lives as long as it has work.
  static std::shared_ptr<Connection> open(boost::asio::io_context& context, int socket,
                                          const ConnectionLimits& limits, Dispatcher& dispatcher,
                                          ConnectionPool& pool);
  virtual Standing standing() const = 0;
  // Waits for a request, or has sent its last answer: another one may have its place.
  virtual bool is_idle() const = 0;
  // Cancels the handler that is at work for it.
  virtual void close() = 0;
};

}  // namespace heed::serve
