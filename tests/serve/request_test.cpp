#include "heed/serve/request.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/expect_error.h"

namespace heed::serve {
namespace {

std::string list_of(const std::string& value, int count) {
  std::string list;
  for (int i = 0; i < count; ++i) list += (i == 0 ? "" : ",") + value;
  return R"({"list": [)" + list + "]}";
}

TEST(Request, RefusesMoreValuesThanARequestHas) {
  for (const char* value : {"{}", "[]", "0"}) {
    expect_error(ErrorKind::data, "request: expected at most 20000 values of JSON, found more",
                 [&] { (Request{.body = list_of(value, 100'000)}.json()); });
  }
  EXPECT_EQ((Request{.body = list_of("0", 10'000)}.json()).at("list").size(), 10'000u);
}

TEST(Request, CountsNoCommasInTexts) {
  const std::string text(50'000, ',');
  EXPECT_EQ((Request{.body = R"({"text": "\"[{)" + text + R"("})"}.json()).at("text"),
            "\"[{" + text);
}

}  // namespace
}  // namespace heed::serve
