// An HTTP server for this machine alone: it listens on 127.0.0.1.
//
//   Server server(router, files, {.port = 8080});
//   AccessGuard guard(server.port());
//   server.start([&](const Request& request) { return guard.stop(request); });
#pragma once

#include <cstdint>
#include <memory>

#include "heed/serve/connection.h"
#include "heed/serve/connection_pool.h"
#include "heed/serve/dispatcher.h"

namespace heed::serve {

struct ServerOptions {
  std::uint16_t port = 0;  // 0: any that is free
  PoolLimits pool = {};
  ConnectionLimits limits = {};
};

class Server {
 public:
  // Takes the port; Error if it is in use. Router and files must outlive the server.
  Server(const Router& router, const StaticFiles& files, const ServerOptions& options);
  ~Server();  // stops
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;
  // Answers from now on, in threads of its own. The gate is called by one of them.
  void start(Gate gate);
  // Closes all connections, cancels the handler that is under way, and waits for it.
  void stop();

 private:
  class Listener;

  const Router& router_;
  const StaticFiles& files_;
  ServerOptions options_;
  std::unique_ptr<Dispatcher> dispatcher_;
  std::unique_ptr<Listener> listener_;
};

}  // namespace heed::serve
