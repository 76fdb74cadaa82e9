#include "heed/serve/router.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "heed/base/cancellation.h"

namespace heed::serve {
namespace {

Request get(const std::string& path) { return {.method = "GET", .path = path}; }
Request post(const std::string& path, const std::string& body) {
  return {.method = "POST", .path = path, .body = body};
}

std::string error_of(const Response& response) {
  return nlohmann::json::parse(response.body).at("error");
}

class Silent : public EventStream {
 public:
  bool send(std::string_view, std::string_view) override { return true; }
  bool is_open() const override { return true; }
};

TEST(Router, CallsTheHandlerWhosePatternFits) {
  Router router;
  router.get("/api/trace/{id}/cell", [](const Request& request) {
    return text_response(200, "cell of " + request.path_parameter("id"));
  });
  router.get("/api/trace/{id}/{what}", [](const Request& request) {
    return text_response(200, request.path_parameter("what"));
  });
  EXPECT_EQ(router.answer(get("/api/trace/7/cell")).body, "cell of 7\n");
  EXPECT_EQ(router.answer(get("/api/trace/7/paths")).body, "paths\n");
}

TEST(Router, RefusesPathsThatFitNoPattern) {
  Router router;
  router.get("/api/trace/{id}", [](const Request&) { return text_response(200, ""); });
  for (const char* path :
       {"/", "/api", "/api/trace", "/api/trace/", "/api/trace/1/", "/api/trace/1/2",
        "//api/trace/1", "/API/trace/1", "/api/../api/trace/1"}) {
    EXPECT_EQ(router.answer(get(path)).status, 404) << path;
  }
  EXPECT_EQ(error_of(router.answer(get("/api"))), "/api: no such thing here");
}

TEST(Router, RefusesAnotherMethod) {
  Router router;
  router.post("/api/run", [](const Request&) { return text_response(200, ""); });
  EXPECT_EQ(router.answer(get("/api/run")).status, 405);
  EXPECT_EQ(router.answer(post("/api/run", "{}")).status, 200);
}

TEST(Router, TellsWhoseMistakeItWas) {
  const auto answer_to = [](std::function<void()> mistake) {
    Router router;
    router.get("/", [&](const Request&) -> Response {
      mistake();
      return {};
    });
    return router.answer(get("/"));
  };
  const auto usage = answer_to([] { fail(ErrorKind::usage, "head: expected 0 to 3, found 4"); });
  EXPECT_EQ(usage.status, 400);
  EXPECT_EQ(usage.content_type, "application/json");
  EXPECT_EQ(error_of(usage), "head: expected 0 to 3, found 4");
  EXPECT_EQ(answer_to([] { fail(ErrorKind::data, "text"); }).status, 400);
  EXPECT_EQ(answer_to([] { throw NotFound("trace 9: no longer kept"); }).status, 404);
  EXPECT_EQ(answer_to([] { fail(ErrorKind::model, "config"); }).status, 500);
  EXPECT_EQ(answer_to([] { throw std::runtime_error("broken"); }).status, 500);
  EXPECT_EQ(answer_to([] { throw std::bad_alloc(); }).status, 500);
}

TEST(Router, DoesNotBeginWhatWasCancelledWhileItWaited) {
  bool has_begun = false;
  Router router;
  router.get("/", [&](const Request&) {
    has_begun = true;
    return text_response(200, "");
  });
  std::stop_source source;
  const CancellationScope scope([&source] { return source.stop_requested(); });
  EXPECT_EQ(router.answer(get("/")).status, 200);
  has_begun = false;
  source.request_stop();
  EXPECT_EQ(router.answer(get("/")).status, 503);
  EXPECT_FALSE(has_begun);
}

TEST(Router, KnowsWhichRoutesSendEvents) {
  Router router;
  std::shared_ptr<EventStream> kept;
  router.events("/api/events/{id}",
                [&](const Request& request, std::shared_ptr<EventStream> stream) {
                  request.path_index("id");
                  kept = std::move(stream);
                });
  router.get("/api/about", [](const Request&) { return text_response(200, ""); });
  EXPECT_TRUE(router.has_events(get("/api/events/1")));
  EXPECT_FALSE(router.has_events(post("/api/events/1", "")));
  EXPECT_FALSE(router.has_events(get("/api/about")));

  const auto stream = std::make_shared<Silent>();
  EXPECT_EQ(router.open_events(get("/api/events/1"), stream), std::nullopt);
  EXPECT_EQ(kept, stream);
  EXPECT_EQ(router.open_events(get("/api/events/one"), stream).value().status, 400);
}

TEST(Request, NamesTheValueThatIsWrong) {
  const auto error_at = [](std::function<void(const Request&)> read, const Request& request) {
    try {
      read(request);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const Request request{.query = {{"head", "two"}, {"key", "-1"}, {"query", "3x"}}, .body = "[1]"};
  EXPECT_EQ(error_at([](const Request& r) { r.query_value("site"); }, request),
            "site: expected a value, found none");
  for (const char* name : {"head", "key", "query"}) {
    EXPECT_EQ(error_at([&](const Request& r) { r.query_index(name); }, request),
              std::string(name) + ": expected a number of 0 or more, found '" +
                  request.query.at(name) + "'");
  }
  EXPECT_EQ(error_at([](const Request& r) { r.json(); }, request),
            "request: expected a JSON object, found array");
  EXPECT_EQ(request.query_index_or("size", 5), 5);
}

TEST(Response, CarriesFloatsAndTheirShape) {
  const std::vector<float> values{1.5f, -2.0f};
  const Response response = binary_response(values, std::vector<Index>{1, 1, 2});
  EXPECT_EQ(response.content_type, "application/octet-stream");
  ASSERT_EQ(response.headers.size(), 1u);
  EXPECT_EQ(response.headers[0].second, "1,1,2");
  EXPECT_EQ(response.body, std::string("\x00\x00\xc0\x3f\x00\x00\x00\xc0", 8));
}

TEST(Response, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(json_response(nlohmann::json{{"text", "a\xff"}}).body, "{\"text\":\"a\xef\xbf\xbd\"}");
}

}  // namespace
}  // namespace heed::serve
