// The open connections of a server, and how many of each standing it holds. Clients that have shown
// no rights cannot take the places of those that have, and streams, which stay open, leave places
// for requests.
#pragma once

#include <memory>
#include <vector>

#include "heed/serve/connection.h"

namespace heed::serve {

struct PoolLimits {
  std::size_t max_strangers = 16;
  std::size_t max_members = 48;
  std::size_t max_streams = 16;
};

class ConnectionPool {
 public:
  explicit ConnectionPool(const PoolLimits& limits) : limits_(limits) {}

  const PoolLimits& limits() const { return limits_; }

  // Takes in a new connection, a stranger. If there are too many, the oldest one is closed.
  void add(const std::shared_ptr<Connection>& connection);
  // Whether one more may become a member or a stream. For a member the oldest idle one is closed
  // if that makes room.
  bool has_room_for_member();
  bool has_room_for_stream();
  void close_all();

 private:
  using Connections = std::vector<std::shared_ptr<Connection>>;
  Connections with(Connection::Standing standing);  // the oldest first
  void close(Connection& connection);

  PoolLimits limits_;
  std::vector<std::weak_ptr<Connection>> connections_;
};

}  // namespace heed::serve
