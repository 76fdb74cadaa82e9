#include "heed/serve/connection_pool.h"

#include <algorithm>

namespace heed::serve {

using Standing = Connection::Standing;

ConnectionPool::Connections ConnectionPool::with(Standing standing) {
  std::erase_if(connections_, [](const auto& open) { return open.expired(); });
  Connections matching;
  for (const auto& open : connections_) {
    auto connection = open.lock();
    if (connection && connection->standing() == standing) matching.push_back(std::move(connection));
  }
  return matching;
}

void ConnectionPool::add(const std::shared_ptr<Connection>& connection) {
  const Connections strangers = with(Standing::stranger);
  if (strangers.size() >= limits_.max_strangers) close(*strangers.front());
  connections_.push_back(connection);
}

bool ConnectionPool::has_room_for_member() {
  const Connections members = with(Standing::member);
  if (members.size() < limits_.max_members) return true;
  const auto idle = std::ranges::find_if(members, &Connection::is_idle);
  if (idle != members.end()) close(**idle);
  return idle != members.end();
}

bool ConnectionPool::has_room_for_stream() {
  return with(Standing::stream).size() < limits_.max_streams;
}

// It no longer counts, although its last callbacks may still have to run.
void ConnectionPool::close(Connection& connection) {
  std::erase_if(connections_, [&](const auto& open) { return open.lock().get() == &connection; });
  connection.close();
}

void ConnectionPool::close_all() {
  for (const auto& open : connections_) {
    if (const auto connection = open.lock()) connection->close();
  }
  connections_.clear();
}

}  // namespace heed::serve
