#include "heed/serve/server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <thread>

#include "heed/base/error.h"

namespace heed::serve {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
using Failure = boost::system::error_code;

Tcp::acceptor listen(asio::io_context& context, std::uint16_t port) {
  try {
    // With SO_REUSEADDR, so that a port that a server has just released is available at once.
    return Tcp::acceptor(context, Tcp::endpoint(asio::ip::address_v4::loopback(), port));
  } catch (const boost::system::system_error& error) {
    fail(ErrorKind::failed, "port ", port,
         ": expected a free port, found: ", error.code().message());
  }
}

}  // namespace

// Accepts connections on a thread of its own.
class Server::Listener {
 public:
  Listener(std::uint16_t port, const PoolLimits& limits)
      : acceptor_(listen(context_, port)), pause_(context_), pool_(limits) {}

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

  void start(const ConnectionLimits& limits, Dispatcher& dispatcher) {
    accept(limits, dispatcher);
    thread_ = std::thread([this] { run(); });
  }

  void stop() {
    if (!thread_.joinable()) return;
    asio::post(context_, [this] {
      acceptor_.close();
      pause_.cancel();
      pool_.close_all();
      context_.stop();
    });
    thread_.join();
  }

 private:
  // A connection that cannot be opened, for want of memory perhaps, is lost; the others stay open,
  // and new ones are accepted.
  void run() {
    while (!context_.stopped()) {
      try {
        context_.run();
      } catch (const std::exception&) {
      }
    }
  }

  void accept(const ConnectionLimits& limits, Dispatcher& dispatcher) {
    acceptor_.async_accept([this, &limits, &dispatcher](Failure failure, Tcp::socket socket) {
      if (!acceptor_.is_open()) return;
      if (failure) return accept_later(limits, dispatcher);
      accept(limits, dispatcher);  // first: opening this connection may fail
      pool_.add(Connection::open(context_, socket.release(), limits, dispatcher, pool_));
    });
  }

  // No file handles are left, for example: some may be soon.
  void accept_later(const ConnectionLimits& limits, Dispatcher& dispatcher) {
    pause_.expires_after(std::chrono::milliseconds(100));
    pause_.async_wait([this, &limits, &dispatcher](Failure failure) {
      if (!failure) accept(limits, dispatcher);
    });
  }

  asio::io_context context_{1};
  Tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  ConnectionPool pool_;
  std::thread thread_;
};

Server::Server(const Router& router, const StaticFiles& files, const ServerOptions& options)
    : router_(router),
      files_(files),
      options_(options),
      listener_(std::make_unique<Listener>(options.port, options.pool)) {}

Server::~Server() { stop(); }

std::uint16_t Server::port() const { return listener_->port(); }

void Server::start(Gate gate) {
  check(dispatcher_ == nullptr, "server: started twice");
  dispatcher_ = std::make_unique<Dispatcher>(router_, files_, std::move(gate));
  listener_->start(options_.limits, *dispatcher_);
}

void Server::stop() {
  // First the sockets, so that no requests arrive; then the running handlers.
  listener_->stop();
  if (dispatcher_) dispatcher_->stop();
}

}  // namespace heed::serve
