#include "heed/explore/explorer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "support/http_client.h"
#include "support/temporary_folder.h"

namespace heed::explore {
namespace {

// A browser that has been let in.
class Visitor {
 public:
  explicit Visitor(const Explorer& explorer) {
    const std::string& address = explorer.address();
    const std::size_t colon = address.rfind(':'), slash = address.find('/', colon);
    port_ = static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1)));
    const Received welcome = exchange(port_, {.target = address.substr(slash)});
    const std::string cookie = welcome.headers.at("set-cookie");
    cookie_ = cookie.substr(0, cookie.find(';'));
  }

  Received get(const std::string& target) const {
    return exchange(port_, {.target = target, .headers = {{"Cookie", cookie_}}});
  }
  Received post(const std::string& target, const nlohmann::json& body) const {
    return exchange(port_, {.method = "POST",
                            .target = target,
                            .headers = {{"Cookie", cookie_},
                                        {"Content-Type", "application/json"},
                                        {"Origin", "http://127.0.0.1:" + std::to_string(port_)}},
                            .body = body.dump()});
  }
  std::uint16_t port() const { return port_; }

 private:
  std::uint16_t port_;
  std::string cookie_;
};

TEST(Explorer, AnswersWithoutAModel) {
  const Explorer explorer({});
  const Visitor visitor(explorer);
  const Received about = visitor.get("/api/about");
  ASSERT_EQ(about.status, 200) << about.body;
  EXPECT_TRUE(nlohmann::json::parse(about.body).at("model").is_null());

  const Received words =
      visitor.post("/api/words", {{"words", {{{"name", "bat"}, {"vector", {3, 3}}}}},
                                  {"similarity", "cosine"},
                                  {"heads", nlohmann::json::array({nlohmann::json::object()})}});
  ASSERT_EQ(words.status, 200) << words.body;
  EXPECT_EQ(nlohmann::json::parse(words.body).at("outputs").dump(), "[[3.0,3.0]]");
}

TEST(Explorer, SaysInOneLineThatThereIsNoModel) {
  const Explorer explorer({});
  const Received run = Visitor(explorer).post("/api/run", {{"text", "hello"}});
  EXPECT_EQ(run.status, 400);
  EXPECT_FALSE(nlohmann::json::parse(run.body).at("error").get<std::string>().empty());
}

TEST(Explorer, LetsNobodyInWithoutTheCookie) {
  const Explorer explorer({});
  const Visitor visitor(explorer);
  for (const char* target :
       {"/", "/index.html", "/assets/page.js", "/api/about", "/api/training"}) {
    EXPECT_EQ(exchange(visitor.port(), {.target = target}).status, 401) << target;
  }
}

TEST(Explorer, RefusesAFolderThatIsNone) {
  const TemporaryFolder folder;
  EXPECT_THROW(Explorer({.model = folder.file("none")}), Error);
  EXPECT_THROW(Explorer({.model = folder.write("file", "")}), Error);
}

TEST(Explorer, WaitsForAModelThatIsStillToCome) {
  const TemporaryFolder folder;
  const Explorer explorer({.model = folder.path()});
  const Received about = Visitor(explorer).get("/api/about");
  EXPECT_EQ(about.status, 200) << about.body;
}

TEST(Explorer, RefusesABrokenModel) {
  const TemporaryFolder folder;
  folder.write("config.json", "{");
  folder.write("model.safetensors", "nothing");
  EXPECT_THROW(Explorer({.model = folder.path()}), Error);
}

TEST(Explorer, RefusesATakenPort) {
  const Explorer explorer({});
  const std::uint16_t port = Visitor(explorer).port();
  EXPECT_THROW(Explorer({.port = port}), Error);
}

}  // namespace
}  // namespace heed::explore
