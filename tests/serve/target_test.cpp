#include "heed/serve/target.h"

#include <gtest/gtest.h>

namespace heed::serve {
namespace {

using Query = std::map<std::string, std::string>;

TEST(Target, IsSplitIntoPathAndQuery) {
  const auto target = parse_target("/api/trace/3/cell?site=encoder.0&head=2&empty=&bare");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/api/trace/3/cell");
  EXPECT_EQ(target->query,
            (Query{{"site", "encoder.0"}, {"head", "2"}, {"empty", ""}, {"bare", ""}}));
}

TEST(Target, IsDecoded) {
  const auto target = parse_target("/a%20b%2Fc+d?%C3%A9=1%2b1+2&x=%26%3D");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/a b/c+d");
  EXPECT_EQ(target->query, (Query{{"é", "1+1 2"}, {"x", "&="}}));
}

TEST(Target, IsRefusedWhenBroken) {
  for (const char* broken : {"", "index.html", "http://elsewhere/", "*", "/%", "/%4", "/%zz",
                             "/?a=%", "/?%2=b", "/% 1", "/%-1"}) {
    EXPECT_FALSE(parse_target(broken)) << broken;
  }
}

}  // namespace
}  // namespace heed::serve
