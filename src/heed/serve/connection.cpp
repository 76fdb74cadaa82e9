#include "heed/serve/connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <cctype>
#include <cerrno>
#include <sstream>
#include <string>
#include <utility>

#include "heed/serve/connection_pool.h"
#include "heed/serve/event_outbox.h"
#include "heed/serve/security_headers.h"
#include "heed/serve/target.h"

namespace heed::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Failure = boost::system::error_code;

// After the last answer the client's bytes are still read for a while: closing a socket with
// unread bytes would take the answer away from it.
constexpr std::chrono::seconds linger_time{2};
constexpr std::size_t max_linger_bytes = 8 << 20;

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

// Headers that come twice are joined, as the standard allows; a second Host so fits no host.
std::map<std::string, std::string> headers_of(const http::fields& fields) {
  std::map<std::string, std::string> headers;
  for (const auto& field : fields) {
    std::string& value = headers[lower_case(field.name_string())];
    value += (value.empty() ? "" : ", ") + std::string(field.value());
  }
  return headers;
}

// None: the target is none of ours.
std::optional<Request> request_of(const http::request<http::string_body>& message) {
  std::optional<Target> target = parse_target(message.target());
  if (!target) return std::nullopt;
  return Request{.method = std::string(message.method_string()),
                 .path = std::move(target->path),
                 .query = std::move(target->query),
                 .headers = headers_of(message),
                 .body = {},
                 .path_parameters = {}};
}

template <typename Message>
void set_head(Message& message, const Response& response, bool keeps_alive) {
  message.version(11);
  message.result(static_cast<unsigned>(response.status));
  message.keep_alive(keeps_alive);
  for (const FixedHeader& header : security_headers()) message.set(header.name, header.value);
  if (!response.content_type.empty()) message.set(http::field::content_type, response.content_type);
  for (const auto& [name, value] : response.headers) message.set(name, value);
}

bool is_mistake_of_client(const Failure& failure) {
  return failure.category() == make_error_code(http::error::bad_method).category();
}

Response refusal_of(const Failure& failure, const ConnectionLimits& limits) {
  if (failure == http::error::header_limit) {
    return error_response(431, "request: expected a head of at most " +
                                   std::to_string(limits.max_head) + " bytes, found a longer one");
  }
  if (failure == http::error::body_limit) {
    return error_response(413, "request: expected a body of at most " +
                                   std::to_string(limits.max_body) + " bytes, found a longer one");
  }
  return error_response(400, "request: expected HTTP, found: " + failure.message());
}

class BeastConnection : public Connection, public std::enable_shared_from_this<BeastConnection> {
 public:
  BeastConnection(asio::io_context& context, int socket, const ConnectionLimits& limits,
                  Dispatcher& dispatcher, ConnectionPool& pool)
      : context_(context),
        stream_(context),
        limits_(limits),
        dispatcher_(dispatcher),
        pool_(pool),
        pause_(context) {
    stream_.socket().assign(asio::ip::tcp::v4(), socket);
    stream_.socket().set_option(asio::ip::tcp::no_delay(true));
  }

  void read_head();
  Standing standing() const override { return standing_; }
  bool is_idle() const override { return is_idle_; }
  void close() override;

 private:
  using Reply = http::response<http::string_body>;

  void take_head(const Failure& failure);
  void take_request(Request request);
  void give_up(const Failure& failure);
  bool becomes_member();
  void read_body(Request request);
  void dispatch(Request request);
  void notice_end_during_handler();
  bool has_client_left();
  void write(Response response, bool keeps_alive);
  void finish(Response response) { write(std::move(response), /*keeps_alive=*/false); }
  void linger();
  void read_away(std::size_t bytes_so_far);

  void offer_events(Request request);
  void start_events();
  void notice_end_of_client();
  void send_events();
  void write_events(std::string text);
  void keep_awake();

  // A callback that keeps this connection alive.
  template <typename Method>
  auto then(Method method) {
    return [self = shared_from_this(), method](Failure failure, std::size_t bytes) {
      method(*self, failure, bytes);
    };
  }
  // Runs the work on the connection's own thread.
  template <typename Work>
  void post(Work work) {
    asio::post(context_,
               [self = shared_from_this(), work = std::move(work)]() mutable { work(*self); });
  }

  asio::io_context& context_;
  beast::tcp_stream stream_;
  const ConnectionLimits& limits_;
  Dispatcher& dispatcher_;
  ConnectionPool& pool_;
  Standing standing_ = Standing::stranger;
  bool is_idle_ = true;
  std::stop_source handler_;  // cancels the handler that is at work for this connection
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  Reply reply_;

  std::shared_ptr<EventOutbox> outbox_;  // null: no stream of events has been asked for
  bool is_streaming_ = false;            // its head has been sent or is on its way
  std::string sending_;                  // what of it is being written; empty: nothing
  asio::steady_timer pause_;
  std::array<char, 1024> unread_;
};

void BeastConnection::close() {
  handler_.request_stop();
  if (outbox_) outbox_->close();
  pause_.cancel();
  stream_.close();
}

// ---- requests and answers

void BeastConnection::read_head() {
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(limits_.max_head));
  parser_->body_limit(limits_.max_body);
  is_idle_ = true;
  // For the whole of the head: a client that sends a byte now and then gets no more time.
  stream_.expires_after(standing_ == Standing::stranger
                            ? std::min(limits_.timeout, limits_.stranger_timeout)
                            : limits_.timeout);
  http::async_read_header(
      stream_, buffer_, *parser_,
      then([](auto& self, const Failure& failure, std::size_t) { self.take_head(failure); }));
}

void BeastConnection::take_head(const Failure& failure) {
  is_idle_ = false;
  if (failure) return give_up(failure);
  std::optional<Request> request = request_of(parser_->get());
  if (!request)
    return finish(error_response(400, "request: expected a path, found another target"));
  take_request(std::move(*request));
}

void BeastConnection::take_request(Request request) {
  // The body of a request that is answered by its head stays unread.
  const bool keeps_alive = parser_->is_done() && parser_->keep_alive();
  if (std::optional<Response> response = dispatcher_.answer_at_gate(request)) {
    return write(std::move(*response), keeps_alive);
  }
  if (!becomes_member()) {
    return finish(error_response(503, "server: expected at most " +
                                          std::to_string(pool_.limits().max_members) +
                                          " requests at one time, found more"));
  }
  if (std::optional<Response> response = dispatcher_.answer_by_head(request)) {
    return write(std::move(*response), keeps_alive);
  }
  read_body(std::move(request));
}

bool BeastConnection::becomes_member() {
  if (standing_ == Standing::stranger && !pool_.has_room_for_member()) return false;
  standing_ = Standing::member;
  return true;
}

void BeastConnection::give_up(const Failure& failure) {
  const bool is_gone = failure == http::error::end_of_stream;
  if (is_gone || !is_mistake_of_client(failure)) return close();
  finish(refusal_of(failure, limits_));
}

void BeastConnection::read_body(Request request) {
  stream_.expires_after(limits_.timeout);
  http::async_read(stream_, buffer_, *parser_,
                   [self = shared_from_this(), request = std::move(request)](Failure failure,
                                                                             std::size_t) mutable {
                     if (failure) return self->give_up(failure);
                     request.body = std::move(self->parser_->get().body());
                     self->dispatch(std::move(request));
                   });
}

void BeastConnection::dispatch(Request request) {
  stream_.expires_never();  // the handler takes the time that it needs
  if (dispatcher_.has_events(request)) return offer_events(std::move(request));
  handler_ = {};
  notice_end_during_handler();
  const auto done = [self = shared_from_this()](Response response) {
    self->post([response = std::move(response)](BeastConnection& connection) mutable {
      Failure ignored;
      connection.stream_.socket().cancel(ignored);  // of notice_end_during_handler
      connection.write(std::move(response), connection.parser_->keep_alive());
    });
  };
  dispatcher_.answer(std::move(request), handler_.get_token(), done);
}

// While a handler is at work nothing is read, so this alone shows that its client has left. It
// looks once: a client that has sent its next request already is there.
void BeastConnection::notice_end_during_handler() {
  stream_.socket().async_wait(asio::socket_base::wait_read,
                              [self = shared_from_this()](Failure failure) {
                                if (!failure && self->has_client_left()) self->close();
                              });
}

bool BeastConnection::has_client_left() {
  char next = 0;
  const int socket = stream_.socket().native_handle();
  const ssize_t count = ::recv(socket, &next, 1, MSG_PEEK | MSG_DONTWAIT);
  return count == 0 || (count < 0 && errno != EAGAIN);
}

void BeastConnection::write(Response response, bool keeps_alive) {
  reply_ = {};
  set_head(reply_, response, keeps_alive);
  reply_.body() = std::move(response.body);
  reply_.prepare_payload();
  stream_.expires_after(limits_.timeout);
  http::async_write(stream_, reply_, then([](auto& self, const Failure& failure, std::size_t) {
                      if (failure) return self.close();
                      self.reply_.keep_alive() ? self.read_head() : self.linger();
                    }));
}

void BeastConnection::linger() {
  is_idle_ = true;
  Failure ignored;
  stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  stream_.expires_after(linger_time);
  read_away(0);
}

void BeastConnection::read_away(std::size_t bytes_so_far) {
  stream_.async_read_some(
      asio::buffer(unread_),
      then([bytes_so_far](auto& self, const Failure& failure, std::size_t bytes) {
        if (failure || bytes_so_far + bytes > max_linger_bytes) return self.close();
        self.read_away(bytes_so_far + bytes);
      }));
}

// ---- events

void BeastConnection::offer_events(Request request) {
  if (!pool_.has_room_for_stream()) {
    return finish(error_response(503, "events: expected at most " +
                                          std::to_string(pool_.limits().max_streams) +
                                          " streams at one time, found more"));
  }
  standing_ = Standing::stream;
  outbox_ = std::make_shared<EventOutbox>(limits_.max_waiting_events, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) {
      self->post([](BeastConnection& connection) { connection.send_events(); });
    }
  });
  dispatcher_.open_events(
      std::move(request), EventOutbox::stream(outbox_),
      [self = shared_from_this()](std::optional<Response> refusal) {
        self->post([refusal = std::move(refusal)](BeastConnection& connection) mutable {
          refusal ? connection.finish(std::move(*refusal)) : connection.start_events();
        });
      });
}

// The head has no length: the stream ends with the connection.
void BeastConnection::start_events() {
  http::response<http::empty_body> head;
  set_head(head, {.content_type = "text/event-stream"}, /*keeps_alive=*/false);
  std::ostringstream text;
  text << head.base();
  is_streaming_ = true;
  notice_end_of_client();
  keep_awake();
  write_events(text.str());
}

void BeastConnection::notice_end_of_client() {
  stream_.async_read_some(asio::buffer(unread_),
                          then([](auto& self, const Failure& failure, std::size_t) {
                            failure ? self.close() : self.notice_end_of_client();
                          }));
}

void BeastConnection::send_events() {
  if (!is_streaming_ || !sending_.empty()) return;
  EventOutbox::Batch batch = outbox_->take();
  if (batch.is_last) return close();
  if (!batch.text.empty()) write_events(std::move(batch.text));
}

void BeastConnection::write_events(std::string text) {
  sending_ = std::move(text);
  stream_.expires_after(limits_.timeout);  // of the writing; the reading waits for ever
  asio::async_write(stream_, asio::buffer(sending_),
                    then([](auto& self, const Failure& failure, std::size_t) {
                      if (failure) return self.close();
                      self.sending_.clear();
                      self.send_events();
                    }));
}

void BeastConnection::keep_awake() {
  pause_.expires_after(limits_.event_pause);
  pause_.async_wait([self = shared_from_this()](Failure failure) {
    if (failure || !self->outbox_->is_open()) return;
    self->outbox_->add_comment();
    self->send_events();
    self->keep_awake();
  });
}

}  // namespace

std::shared_ptr<Connection> Connection::open(asio::io_context& context, int socket,
                                             const ConnectionLimits& limits, Dispatcher& dispatcher,
                                             ConnectionPool& pool) {
  auto connection = std::make_shared<BeastConnection>(context, socket, limits, dispatcher, pool);
  connection->read_head();
  return connection;
}

}  // namespace heed::serve
