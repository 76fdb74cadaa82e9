// Any bytes as what a client sends to a server: requests, pipelined or broken.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "harness.h"
#include "heed/serve/access_guard.h"
#include "heed/serve/server.h"

using namespace heed;

namespace {

serve::Router echo_routes() {
  serve::Router router;
  router.get("/echo/{id}", [](const serve::Request& request) {
    return serve::json_response(nlohmann::json{{"id", request.path_index("id")}});
  });
  router.post("/echo",
              [](const serve::Request& request) { return serve::json_response(request.json()); });
  router.events("/events", [](const serve::Request&, std::shared_ptr<serve::EventStream> stream) {
    stream->send("hello", "{}");
  });
  return router;
}

class EchoServer {
 public:
  EchoServer() {
    server_.start([this](const serve::Request& request) {
      (void)guard_.stop(request);  // which lets nobody in who does not know its secrets
      return std::nullopt;
    });
  }
  std::uint16_t port() const { return server_.port(); }

 private:
  serve::Router router_ = echo_routes();
  serve::StaticFiles files_{{{"/index.html", "compressed"}}};
  serve::Server server_{router_, files_, {}};
  serve::AccessGuard guard_{server_.port()};
};

// Sends everything, then reads until the server closes the connection.
class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    // Closing resets the connection, so that no port has to wait before it is used again.
    const linger reset{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    fuzz::require(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0,
                  "a server that accepts connections");
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) break;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    ::shutdown(socket_, SHUT_WR);
  }
  std::string read_all() const {
    std::string all;
    char buffer[4096];
    for (ssize_t count; (count = ::recv(socket_, buffer, sizeof buffer, 0)) > 0;) {
      all.append(buffer, static_cast<std::size_t>(count));
    }
    return all;
  }

 private:
  int socket_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const EchoServer server;
  return fuzz::test(ErrorKind::usage, data, size, [](std::string_view input) {
    const Client client(server.port());
    client.send(input);
    const std::string answer = client.read_all();
    fuzz::require(answer.empty() || answer.starts_with("HTTP/1.1 "), "an answer in HTTP");
    fuzz::require(!answer.starts_with("HTTP/1.1 5"), "no failure of the server");
  });
}
