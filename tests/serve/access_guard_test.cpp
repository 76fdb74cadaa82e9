#include "heed/serve/access_guard.h"

#include <gtest/gtest.h>

namespace heed::serve {
namespace {

constexpr std::uint16_t port = 4321;

std::string header_of(const Response& response, const std::string& name) {
  for (const auto& [found, value] : response.headers) {
    if (found == name) return value;
  }
  return "";
}

// A guard whose token has been exchanged, and the cookie that came for it.
class OpenAccess : public testing::Test {
 protected:
  OpenAccess() {
    const std::string address = guard_.address();
    token_ = address.substr(address.find("token=") + 6);
    const auto answer = guard_.stop(request("GET", "/", {{"token", token_}}));
    const std::string cookie = header_of(answer.value(), "Set-Cookie");
    cookie_ = cookie.substr(0, cookie.find(';'));
  }

  static Request request(const std::string& method, const std::string& path,
                         std::map<std::string, std::string> query = {}) {
    return {.method = method,
            .path = path,
            .query = std::move(query),
            .headers = {{"host", "127.0.0.1:4321"}}};
  }
  // As the page sends them.
  Request own(const std::string& method) const {
    Request own = request(method, "/api/words");
    own.headers["cookie"] = cookie_;
    own.headers["sec-fetch-site"] = "same-origin";
    if (method == "POST") {
      own.headers["origin"] = "http://127.0.0.1:4321";
      own.headers["content-type"] = "application/json";
    }
    return own;
  }
  int status_of(const Request& request) {
    const auto answer = guard_.stop(request);
    return answer ? answer->status : 200;
  }

  AccessGuard guard_{port};
  std::string token_, cookie_;
};

TEST(AccessGuard, GivesACookieForTheToken) {
  AccessGuard guard(port);
  const std::string address = guard.address();
  const std::string start = "http://127.0.0.1:4321/?token=";
  ASSERT_TRUE(address.starts_with(start)) << address;
  const auto answer = guard.stop({.query = {{"token", address.substr(start.size())}},
                                  .headers = {{"host", "127.0.0.1:4321"}}});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 303);
  EXPECT_EQ(header_of(*answer, "Location"), "/");
  const std::string cookie = header_of(*answer, "Set-Cookie");
  EXPECT_TRUE(cookie.starts_with("heed_4321=")) << cookie;
  EXPECT_TRUE(cookie.ends_with("; HttpOnly; SameSite=Strict; Path=/")) << cookie;
  EXPECT_EQ(cookie.find(address.substr(start.size())), std::string::npos)
      << "the token is no cookie";
}

// A redirect would arrive without the cookie: a page from elsewhere began it.
TEST(AccessGuard, GivesAPageToWhoWasLedHere) {
  AccessGuard guard(port);
  const std::string address = guard.address();
  const auto answer =
      guard.stop({.query = {{"token", address.substr(address.find("token=") + 6)}},
                  .headers = {{"host", "127.0.0.1:4321"}, {"sec-fetch-site", "cross-site"}}});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->content_type, "text/html; charset=utf-8");
  EXPECT_NE(answer->body.find("http-equiv=\"refresh\" content=\"0; url=/\""), std::string::npos);
  EXPECT_TRUE(header_of(*answer, "Set-Cookie").starts_with("heed_4321="));
}

TEST_F(OpenAccess, LetsTheCookieIn) {
  EXPECT_EQ(status_of(own("GET")), 200);
  EXPECT_EQ(status_of(own("POST")), 200);
  Request among_others = own("GET");
  among_others.headers["cookie"] = "a=1; " + cookie_ + "; heed_99=x";
  EXPECT_EQ(status_of(among_others), 200);
  Request by_name = own("POST");
  by_name.headers["host"] = "localhost:4321";
  by_name.headers["origin"] = "http://localhost:4321";
  EXPECT_EQ(status_of(by_name), 200);
}

TEST_F(OpenAccess, TakesTheTokenOnce) {
  EXPECT_EQ(status_of(request("GET", "/", {{"token", token_}})), 401);
  EXPECT_EQ(status_of(request("GET", "/", {{"token", ""}})), 401);
  // Who has the cookie already may use the old address again.
  Request again = request("GET", "/", {{"token", token_}});
  again.headers["cookie"] = cookie_;
  EXPECT_EQ(status_of(again), 303);
}

TEST_F(OpenAccess, RefusesOtherCookies) {
  const std::string name = cookie_.substr(0, cookie_.find('=') + 1);
  std::string almost = cookie_;
  almost.back() = almost.back() == 'A' ? 'E' : 'A';
  for (const std::string& cookie : {std::string(), name, name + token_, almost, cookie_ + "A",
                                    "heed_4322" + cookie_.substr(9), "x" + cookie_}) {
    Request other = own("GET");
    other.headers["cookie"] = cookie;
    EXPECT_EQ(status_of(other), 401) << cookie;
  }
  Request none = own("GET");
  none.headers.erase("cookie");
  EXPECT_EQ(status_of(none), 401);
}

TEST_F(OpenAccess, RefusesHostsThatAreNotItsOwn) {
  for (const char* host : {"", "127.0.0.1", "localhost", "127.0.0.1:4322", "evil.example:4321",
                           "127.0.0.1:4321.evil.example", "localhost:4321, evil.example",
                           "[::1]:4321", "0.0.0.0:4321", "127.0.0.2:4321"}) {
    Request rebound = own("GET");
    rebound.headers["host"] = host;
    EXPECT_EQ(status_of(rebound), 403) << host;
  }
  Request none = own("GET");
  none.headers.erase("host");
  EXPECT_EQ(status_of(none), 403);
}

TEST_F(OpenAccess, RefusesOriginsThatAreNotItsOwn) {
  for (const char* origin :
       {"", "null", "http://evil.example", "https://127.0.0.1:4321", "http://127.0.0.1:4322",
        "http://127.0.0.1", "http://localhost:4321"}) {
    for (const char* method : {"GET", "POST"}) {
      Request foreign = own(method);
      foreign.headers["origin"] = origin;
      EXPECT_EQ(status_of(foreign), 403) << method << ' ' << origin;
    }
  }
}

TEST_F(OpenAccess, RefusesWhatABrowserSendsForOtherPages) {
  for (const char* site : {"cross-site", "same-site"}) {  // another port is the same site
    Request foreign = own("GET");
    foreign.headers["sec-fetch-site"] = site;
    EXPECT_EQ(status_of(foreign), 403) << site;
    foreign.path = "/";  // a link that somebody followed
    EXPECT_EQ(status_of(foreign), 200) << site;
  }
}

TEST_F(OpenAccess, TakesPostsAsJsonFromItsPageOnly) {
  for (const char* type :
       {"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data",
        "application/jsonp", "text/plain;application/json"}) {
    Request form = own("POST");
    form.headers["content-type"] = type;
    EXPECT_EQ(status_of(form), 415) << type;
  }
  Request with_charset = own("POST");
  with_charset.headers["content-type"] = "application/json; charset=utf-8";
  EXPECT_EQ(status_of(with_charset), 200);

  Request no_word_of_its_page = own("POST");
  no_word_of_its_page.headers.erase("origin");
  EXPECT_EQ(status_of(no_word_of_its_page), 200);
  no_word_of_its_page.headers.erase("sec-fetch-site");
  EXPECT_EQ(status_of(no_word_of_its_page), 403);
}

}  // namespace
}  // namespace heed::serve
