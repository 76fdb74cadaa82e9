#include "heed/serve/server.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <future>
#include <nlohmann/json.hpp>
#include <thread>

#include "heed/base/cancellation.h"
#include "heed/serve/access_guard.h"
#include "heed/serve/security_headers.h"
#include "support/failing_calls.h"
#include "support/http_client.h"

namespace heed::serve {
namespace {

using namespace std::chrono_literals;

std::optional<Response> open_gate(const Request&) { return std::nullopt; }

// A server that says what it was told, with a gate that lets everybody in.
class EchoServer : public testing::Test {
 protected:
  void start(const ServerOptions& options = {}, Gate gate = open_gate) {
    router_.get("/api/echo", [](const Request& request) {
      return json_response(nlohmann::json{{"text", request.query_value("text")}});
    });
    router_.post("/api/echo", [](const Request& request) {
      return json_response(nlohmann::json{{"text", request.json().at("text")}});
    });
    server_ = std::make_unique<Server>(router_, files_, options);
    server_->start(std::move(gate));
  }
  std::uint16_t port() const { return server_->port(); }
  Received exchange(const Sent& sent) const { return heed::exchange(port(), sent); }
  static Sent posted(const std::string& body) {
    return {.method = "POST", .target = "/api/echo", .body = body};
  }

  Router router_;
  StaticFiles files_;
  std::unique_ptr<Server> server_;
};

TEST_F(EchoServer, Answers) {
  start();
  const Received got = exchange({.target = "/api/echo?text=hello"});
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.headers.at("content-type"), "application/json");
  EXPECT_EQ(got.body, R"({"text":"hello"})");
  EXPECT_EQ(exchange(posted(R"({"text": "to you"})")).body, R"({"text":"to you"})");
  EXPECT_EQ(exchange({.target = "/elsewhere"}).status, 404);
  EXPECT_EQ(exchange({.method = "DELETE", .target = "/api/echo"}).status, 405);
}

TEST_F(EchoServer, KeepsTheConnectionForTheNextRequest) {
  start();
  HttpClient client(port());
  for (const char* text : {"one", "two", "three"}) {
    client.send(text_of({.target = std::string("/api/echo?text=") + text}, port()));
    EXPECT_NE(client.receive().body.find(text), std::string::npos);
  }
  client.send(
      text_of({.target = "/api/echo?text=x", .headers = {{"Connection", "close"}}}, port()));
  EXPECT_EQ(client.receive().status, 200);
  EXPECT_TRUE(client.is_closed_by_server());
}

TEST_F(EchoServer, AnswersRequestsThatComeTogether) {
  start();
  HttpClient client(port());
  client.send(text_of({.target = "/api/echo?text=a"}, port()) +
              text_of({.target = "/api/echo?text=b"}, port()));
  EXPECT_EQ(client.receive().body, R"({"text":"a"})");
  EXPECT_EQ(client.receive().body, R"({"text":"b"})");
}

TEST_F(EchoServer, GivesEveryAnswerTheSecurityHeaders) {
  start();
  for (const char* target : {"/api/echo?text=x", "/nowhere", "/api/echo", "no-path"}) {
    const Received got = exchange({.target = target});
    for (const FixedHeader& header : security_headers()) {
      std::string name(header.name);
      for (char& c : name) c = static_cast<char>(std::tolower(c));
      EXPECT_EQ(got.headers.at(name), header.value) << target;
    }
  }
  EXPECT_EQ(exchange({.target = "/nowhere"}).headers.at("x-content-type-options"), "nosniff");
}

TEST_F(EchoServer, SendsMarkupBackAsJsonText) {
  start();
  const std::string markup = "<script>alert(1)</script>";
  const Received got = exchange(posted(nlohmann::json{{"text", markup}}.dump()));
  EXPECT_EQ(got.headers.at("content-type"), "application/json");
  EXPECT_EQ(got.headers.at("x-content-type-options"), "nosniff");
  EXPECT_EQ(nlohmann::json::parse(got.body).at("text"), markup);
  const Received unknown = exchange({.target = "/<script>"});
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(unknown.headers.at("content-type"), "application/json");
}

TEST_F(EchoServer, ServesNoFilesOfTheMachine) {
  start();
  for (const char* target : {"/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/etc/passwd",
                             "//etc/passwd", "/..%2f..%2fetc%2fpasswd", "/assets/../../etc/passwd",
                             "/proc/self/environ", "/.", "/index.html%00"}) {
    EXPECT_EQ(exchange({.target = target}).status, 404) << target;
  }
}

TEST_F(EchoServer, RefusesABodyThatIsTooLarge) {
  start();
  const std::string large(3 << 20, ' ');
  const Received got = exchange(posted(large));
  EXPECT_EQ(got.status, 413);
  EXPECT_EQ(nlohmann::json::parse(got.body).at("error"),
            "request: expected a body of at most 1048576 bytes, found a longer one");
  // Without a length it is noticed on the way.
  HttpClient client(port());
  client.send("POST /api/echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n200000\r\n" +
              large);
  EXPECT_EQ(client.receive().status, 413);
}

TEST_F(EchoServer, TakesTheLargestBody) {
  start();
  std::string body = R"({"text": "x"})";
  body += std::string((1 << 20) - body.size(), ' ');
  EXPECT_EQ(exchange(posted(body)).status, 200);
  EXPECT_EQ(exchange(posted(body + " ")).status, 413);
}

TEST_F(EchoServer, RefusesAHeadThatIsTooLarge) {
  start();
  const Received got =
      exchange({.target = "/api/echo?text=x", .headers = {{"X", std::string(20'000, 'x')}}});
  EXPECT_EQ(got.status, 431);
  EXPECT_EQ(exchange({.target = "/" + std::string(20'000, 'x')}).status, 431);
  EXPECT_EQ(
      exchange({.target = "/api/echo?text=x", .headers = {{"X", std::string(12'000, 'x')}}}).status,
      200);
}

TEST_F(EchoServer, RefusesWhatIsNoHttp) {
  start();
  HttpClient client(port());
  client.send("\x16\x03\x01 hello, is this TLS?\r\n\r\n");
  EXPECT_EQ(client.receive().status, 400);
  EXPECT_TRUE(client.is_closed_by_server());
}

TEST_F(EchoServer, AnswersAHandlersMistake) {
  start();
  const Received got = exchange(posted("{\"text\": "));
  EXPECT_EQ(got.status, 400);
  EXPECT_NE(nlohmann::json::parse(got.body).at("error").get<std::string>().find("request"),
            std::string::npos);
}

TEST_F(EchoServer, LeavesSlowClients) {
  start({.limits = {.timeout = 200ms}});
  HttpClient silent(port()), slow(port()), idle(port());
  slow.send("GET /api/echo?text=x HTTP/1.1\r\n");
  idle.send(text_of({.target = "/api/echo?text=x"}, port()));
  EXPECT_EQ(idle.receive().status, 200);
  EXPECT_TRUE(silent.is_closed_by_server());
  EXPECT_TRUE(slow.is_closed_by_server());
  EXPECT_TRUE(idle.is_closed_by_server());
}

TEST_F(EchoServer, GivesADrippingClientNoMoreTime) {
  start({.limits = {.timeout = 300ms}});
  HttpClient dripping(port());
  std::atomic<bool> is_closed = false;
  std::thread sender([&] {
    while (!is_closed) {
      dripping.send("a");
      std::this_thread::sleep_for(20ms);
    }
  });
  EXPECT_TRUE(dripping.is_closed_by_server());
  is_closed = true;
  sender.join();
}

TEST_F(EchoServer, ClosesTheOldestIdleConnectionForANewOne) {
  start({.pool = {.max_members = 2}});
  HttpClient first(port()), second(port()), third(port());
  for (HttpClient* client : {&first, &second, &third}) {
    client->send(text_of({.target = "/api/echo?text=x"}, port()));
    EXPECT_EQ(client->receive().status, 200);
  }
  EXPECT_TRUE(first.is_closed_by_server());
  second.send(text_of({.target = "/api/echo?text=x"}, port()));
  EXPECT_EQ(second.receive().status, 200);
}

TEST_F(EchoServer, RefusesARequestBeyondThoseItIsBusyWith) {
  std::promise<void> started, go_on;
  router_.get("/api/slow", [&](const Request&) {
    started.set_value();
    go_on.get_future().wait();
    return text_response(200, "done");
  });
  start({.pool = {.max_members = 1}});
  HttpClient busy(port());
  busy.send(text_of({.target = "/api/slow"}, port()));
  started.get_future().wait();
  const Received refused = exchange({.target = "/api/echo?text=x"});
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(nlohmann::json::parse(refused.body).at("error"),
            "server: expected at most 1 requests at one time, found more");
  go_on.set_value();
  EXPECT_EQ(busy.receive().status, 200);
}

// A gate that lets in whoever says that it is a member.
std::optional<Response> members_only(const Request& request) {
  if (request.header("x-member")) return std::nullopt;
  return text_response(401, "who are you?");
}

TEST_F(EchoServer, IsNotStarvedByClientsWithoutRights) {
  start({}, members_only);
  const Sent own{.target = "/api/echo?text=x", .headers = {{"X-Member", "yes"}}};
  HttpClient member(port());
  member.send(text_of(own, port()));
  EXPECT_EQ(member.receive().status, 200);
  std::vector<std::unique_ptr<HttpClient>> strangers;
  for (int i = 0; i < 300; ++i) {
    strangers.push_back(std::make_unique<HttpClient>(port()));
    if (i % 3 == 1) strangers.back()->send("GET / HTTP/1.1\r\nX-Slow: ");
    if (i % 3 == 2) strangers.back()->send(text_of({.target = "/"}, port()));
  }
  for (int i = 0; i < 10; ++i) EXPECT_EQ(exchange(own).status, 200);
  member.send(text_of(own, port()));
  EXPECT_EQ(member.receive().status, 200) << "its place is not a stranger's";
  EXPECT_TRUE(strangers.front()->is_closed_by_server());
}

TEST_F(EchoServer, GivesStrangersLittleTime) {
  start({.limits = {.stranger_timeout = 100ms}}, members_only);
  HttpClient silent(port()), slow(port()), refused(port()), member(port());
  slow.send("GET / HTTP/1.1\r\n");
  refused.send(text_of({.target = "/"}, port()));
  EXPECT_EQ(refused.receive().status, 401);
  const Sent own{.target = "/api/echo?text=x", .headers = {{"X-Member", "yes"}}};
  member.send(text_of(own, port()));
  EXPECT_EQ(member.receive().status, 200);
  EXPECT_TRUE(silent.is_closed_by_server());
  EXPECT_TRUE(slow.is_closed_by_server());
  EXPECT_TRUE(refused.is_closed_by_server());
  member.send(text_of(own, port()));
  EXPECT_EQ(member.receive().status, 200);
}

TEST_F(EchoServer, RunsHandlersOneAtATime) {
  std::atomic<int> num_running = 0, most = 0;
  router_.get("/api/slow", [&](const Request&) {
    most = std::max<int>(most, ++num_running);
    std::this_thread::sleep_for(10ms);
    --num_running;
    return text_response(200, "done");
  });
  start();
  std::vector<std::thread> clients;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&] { EXPECT_EQ(exchange({.target = "/api/slow"}).status, 200); });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(most, 1);
}

TEST_F(EchoServer, StopsWhileAHandlerIsAtWork) {
  std::promise<void> started;
  std::atomic<bool> is_done = false;
  router_.get("/api/slow", [&](const Request&) {
    started.set_value();
    std::this_thread::sleep_for(50ms);
    is_done = true;
    return text_response(200, "done");
  });
  start();
  HttpClient client(port()), waiting(port());
  client.send(text_of({.target = "/api/slow"}, port()));
  started.get_future().wait();
  waiting.send(text_of({.target = "/api/echo?text=x"}, port()));
  server_->stop();
  EXPECT_TRUE(is_done);
  EXPECT_TRUE(client.is_closed_by_server());
  EXPECT_TRUE(waiting.is_closed_by_server());
  server_.reset();
}

// A handler that would never end, and the promise that it was cancelled.
struct EndlessHandler {
  Response operator()(const Request&) const {
    started->set_value();
    try {
      for (;;) {
        check_cancelled();
        std::this_thread::sleep_for(1ms);
      }
    } catch (const Cancelled&) {
      cancelled->set_value();
      throw;
    }
  }
  std::shared_ptr<std::promise<void>> started = std::make_shared<std::promise<void>>();
  std::shared_ptr<std::promise<void>> cancelled = std::make_shared<std::promise<void>>();
};

TEST_F(EchoServer, CancelsTheHandlerWhenItStops) {
  const EndlessHandler endless;
  router_.get("/api/endless", endless);
  start();
  HttpClient client(port());
  client.send(text_of({.target = "/api/endless"}, port()));
  endless.started->get_future().wait();
  server_->stop();
  endless.cancelled->get_future().wait();
}

TEST_F(EchoServer, CancelsTheHandlerOfAClientThatHasLeft) {
  const EndlessHandler endless;
  router_.get("/api/endless", endless);
  std::atomic<int> num_late = 0;
  router_.get("/api/late", [&](const Request&) {
    ++num_late;
    return text_response(200, "late");
  });
  start();
  HttpClient client(port()), waiting(port());
  client.send(text_of({.target = "/api/endless"}, port()));
  endless.started->get_future().wait();
  waiting.send(text_of({.target = "/api/late"}, port()));
  waiting.close();
  std::this_thread::sleep_for(50ms);  // so that its request is there, and its end
  client.close();
  endless.cancelled->get_future().wait();
  EXPECT_EQ(exchange({.target = "/api/echo?text=x"}).status, 200);
  EXPECT_EQ(num_late, 0) << "nobody waits for that answer";
}

TEST_F(EchoServer, DoesNotTakeTheNextRequestForTheEndOfTheClient) {
  std::promise<void> started, go_on;
  router_.get("/api/slow", [&](const Request&) {
    started.set_value();
    go_on.get_future().wait();
    check_cancelled();
    return text_response(200, "done");
  });
  start();
  HttpClient client(port());
  client.send(text_of({.target = "/api/slow"}, port()));
  started.get_future().wait();
  client.send(text_of({.target = "/api/echo?text=next"}, port()));
  std::this_thread::sleep_for(20ms);
  go_on.set_value();
  EXPECT_EQ(client.receive().body, "done\n");
  EXPECT_EQ(client.receive().body, R"({"text":"next"})");
}

// Options of a socket that cannot be set stand for all that may fail when a connection is opened.
TEST(ServerDeathTest, AConnectionThatCannotBeOpenedIsLostAndTheNextOneIsAccepted) {
  EXPECT_EXIT(
      {
        const Router router;
        const StaticFiles files;
        Server server(router, files, {});
        if (!make_calls_fail(SYS_setsockopt, EINVAL)) ::_exit(77);
        server.start(open_gate);
        ::alarm(20);  // the client cannot set a limit of its own
        for (int i = 0; i < 3; ++i) {
          if (!HttpClient(server.port()).is_closed_by_server()) ::_exit(1);
        }
        ::_exit(3);
      },
      testing::ExitedWithCode(3), "");
}

TEST_F(EchoServer, IsReachedFromThisMachineOnly) {
  start();
  // Everything in 127/8 is this machine, but the server listens on one address of it.
  EXPECT_THROW(HttpClient(port(), "127.0.0.2"), std::runtime_error);
}

TEST_F(EchoServer, RefusesAPortThatIsTaken) {
  start();
  try {
    const Server second(router_, files_, {.port = port()});
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("expected a free port"), std::string::npos);
  }
}

TEST_F(EchoServer, LeavesTheBodyOfARefusedRequestUnread) {
  start({}, [](const Request&) { return std::optional(text_response(403, "no")); });
  HttpClient client(port());
  client.send("POST /api/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
  const Received got = client.receive();  // before a byte of the body has been sent
  EXPECT_EQ(got.status, 403);
  EXPECT_EQ(got.body, "no\n");
  EXPECT_TRUE(client.is_closed_by_server());
}

TEST_F(EchoServer, IsGuarded) {
  std::unique_ptr<AccessGuard> guard;
  start({}, [&](const Request& request) { return guard->stop(request); });
  guard = std::make_unique<AccessGuard>(port());
  EXPECT_EQ(exchange({.target = "/api/echo?text=x"}).status, 401);

  const std::string address = guard->address();
  const Received welcome = exchange({.target = address.substr(address.find("/?token="))});
  EXPECT_EQ(welcome.status, 303);
  const std::string cookie =
      welcome.headers.at("set-cookie").substr(0, welcome.headers.at("set-cookie").find(';'));
  EXPECT_EQ(exchange({.target = "/api/echo?text=x", .headers = {{"Cookie", cookie}}}).status, 200);
  EXPECT_EQ(exchange({.target = "/api/echo?text=x",
                      .headers = {{"Cookie", cookie}, {"Host", "evil.example"}}})
                .status,
            403);
  // Two hosts, of which one is right.
  HttpClient client(port());
  client.send("GET /api/echo?text=x HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port()) +
              "\r\nHost: evil.example\r\nCookie: " + cookie + "\r\n\r\n");
  EXPECT_EQ(client.receive().status, 403);
}

// ---- events

TEST_F(EchoServer, StreamsEvents) {
  std::promise<std::shared_ptr<EventStream>> opened;
  router_.events("/api/events", [&](const Request&, std::shared_ptr<EventStream> stream) {
    stream->send("hello", "first");
    opened.set_value(std::move(stream));
  });
  start();
  HttpClient client(port());
  client.send(text_of({.target = "/api/events"}, port()));
  auto stream = opened.get_future().get();
  const std::string head = client.receive_until("\r\n\r\n");
  EXPECT_NE(head.find("200 OK"), std::string::npos) << head;
  EXPECT_NE(head.find("Content-Type: text/event-stream"), std::string::npos) << head;
  EXPECT_NE(head.find("X-Content-Type-Options: nosniff"), std::string::npos) << head;
  EXPECT_EQ(client.receive_until("\n\n"), "event: hello\ndata: first\n\n");
  // From another thread than the handler's, while other requests are answered.
  EXPECT_TRUE(stream->send("update", "second"));
  EXPECT_EQ(client.receive_until("\n\n"), "event: update\ndata: second\n\n");
  EXPECT_EQ(exchange({.target = "/api/echo?text=x"}).status, 200);
  stream.reset();
  EXPECT_TRUE(client.is_closed_by_server());
}

TEST_F(EchoServer, KeepsSilentStreamsAlive) {
  std::shared_ptr<EventStream> kept;
  router_.events("/api/events", [&](const Request&, std::shared_ptr<EventStream> stream) {
    kept = std::move(stream);
  });
  // The pause is longer than the timeout: nobody has to read or write in between.
  start({.limits = {.timeout = 50ms, .event_pause = 150ms}});
  HttpClient client(port());
  client.send(text_of({.target = "/api/events"}, port()));
  client.receive_until("\r\n\r\n");
  EXPECT_EQ(client.receive_until("\n\n"), ":\n\n");
  EXPECT_EQ(client.receive_until("\n\n"), ":\n\n");
  EXPECT_TRUE(kept->is_open());
}

TEST_F(EchoServer, NoticesThatTheReaderOfEventsHasGone) {
  std::promise<std::shared_ptr<EventStream>> opened;
  router_.events("/api/events", [&](const Request&, std::shared_ptr<EventStream> stream) {
    opened.set_value(std::move(stream));
  });
  start();
  HttpClient client(port());
  client.send(text_of({.target = "/api/events"}, port()));
  client.receive_until("\r\n\r\n");
  const auto stream = opened.get_future().get();
  client.close();
  for (int i = 0; i < 500 && stream->is_open(); ++i) std::this_thread::sleep_for(10ms);
  EXPECT_FALSE(stream->is_open());
  EXPECT_FALSE(stream->send("a", "b"));
}

TEST_F(EchoServer, RefusesEventsWhenTheHandlerDoes) {
  router_.events("/api/events", [](const Request& request, std::shared_ptr<EventStream>) {
    request.query_index("from");
  });
  start();
  EXPECT_EQ(exchange({.target = "/api/events"}).status, 400);
}

TEST_F(EchoServer, StreamsLeaveRoomForRequests) {
  std::vector<std::shared_ptr<EventStream>> streams;
  router_.events("/api/events", [&](const Request&, std::shared_ptr<EventStream> stream) {
    streams.push_back(std::move(stream));
  });
  start();
  std::vector<std::unique_ptr<HttpClient>> listeners;
  int num_open = 0, num_refused = 0;
  for (int i = 0; i < 70; ++i) {
    listeners.push_back(std::make_unique<HttpClient>(port()));
    listeners.back()->send(text_of({.target = "/api/events"}, port()));
    const std::string head = listeners.back()->receive_until("\r\n\r\n");
    num_open += head.find("200 OK") != head.npos;
    num_refused += head.find("503") != head.npos;
  }
  EXPECT_EQ(num_open, 16);
  EXPECT_EQ(num_refused, 54);
  EXPECT_EQ(exchange({.target = "/api/echo?text=x"}).status, 200);
  listeners.clear();
  server_->stop();
}

TEST_F(EchoServer, SendsAFirstEventOfAnySize) {
  const std::string large(6 << 20, 'x');
  std::shared_ptr<EventStream> kept;
  router_.events("/api/events", [&](const Request&, std::shared_ptr<EventStream> stream) {
    stream->send("history", large);
    kept = std::move(stream);
  });
  start();
  HttpClient client(port());
  client.send(text_of({.target = "/api/events"}, port()));
  client.receive_until("\r\n\r\n");
  EXPECT_EQ(client.receive_until("\n\n").size(), large.size() + 23);  // event: history, data:
  server_->stop();
}

TEST_F(EchoServer, StopsWhileStreamsAreOpen) {
  std::promise<std::shared_ptr<EventStream>> opened;
  router_.events("/api/events", [&](const Request&, std::shared_ptr<EventStream> stream) {
    opened.set_value(std::move(stream));
  });
  start();
  HttpClient client(port());
  client.send(text_of({.target = "/api/events"}, port()));
  const auto stream = opened.get_future().get();
  server_.reset();
  EXPECT_FALSE(stream->send("late", "event"));
}

}  // namespace
}  // namespace heed::serve
