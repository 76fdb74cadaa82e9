#include "heed/serve/static_files.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"

namespace heed::serve {
namespace {

using namespace std::string_view_literals;

// `printf '<p>hi</p>\n' | gzip -n`
constexpr std::string_view packed_page =
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xb3\x29\xb0\xcb\xc8\xb4\xd1\x2f\xb0\xe3\x02\x00\x96"
    "\xa4\x62\x0f\x0a\x00\x00\x00"sv;

Request get(const std::string& path, const std::string& encodings = "gzip, deflate, br") {
  return {.method = "GET", .path = path, .headers = {{"accept-encoding", encodings}}};
}

StaticFiles files() {
  return StaticFiles({{"/index.html", packed_page}, {"/assets/main.js", packed_page}});
}

TEST(StaticFiles, GoOutCompressed) {
  const auto page = files().find(get("/index.html"));
  ASSERT_TRUE(page);
  EXPECT_EQ(page->content_type, "text/html; charset=utf-8");
  EXPECT_EQ(page->body, packed_page);
  EXPECT_EQ(files().find(get("/assets/main.js"))->content_type, "text/javascript; charset=utf-8");
}

TEST(StaticFiles, AreUnpackedForClientsThatTakeNoGzip) {
  for (const char* encodings : {"", "br", "gzip;q=0", "gzip; q=0.0, br"}) {
    const auto page = files().find(get("/", encodings));
    ASSERT_TRUE(page);
    EXPECT_EQ(page->body, "<p>hi</p>\n") << encodings;
    for (const auto& [name, value] : page->headers) EXPECT_NE(name, "Content-Encoding");
  }
  EXPECT_EQ(files().find(get("/", "br, gzip;q=0.5"))->body, packed_page);
}

TEST(StaticFiles, AreFoundByTheirExactPathOnly) {
  EXPECT_TRUE(files().find(get("/")));
  for (const char* path :
       {"/index", "/INDEX.HTML", "//index.html", "/assets", "/assets/", "/./index.html",
        "/assets/../index.html", "/../../etc/passwd", "/etc/passwd", "/index.html/"}) {
    EXPECT_FALSE(files().find(get(path))) << path;
  }
  EXPECT_FALSE(files().find(get({"/index.html\0", 12})));
  EXPECT_FALSE(files().find({.method = "POST", .path = "/"}));
}

TEST(StaticFiles, AreNotSentBroken) {
  const StaticFiles cut({{"/index.html", packed_page.substr(0, 20)}});
  EXPECT_THROW(cut.find(get("/", "")), Error);
}

}  // namespace
}  // namespace heed::serve
