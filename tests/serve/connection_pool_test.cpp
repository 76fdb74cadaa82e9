#include "heed/serve/connection_pool.h"

#include <gtest/gtest.h>

namespace heed::serve {
namespace {

using Standing = Connection::Standing;

struct FakeConnection : Connection {
  explicit FakeConnection(Standing standing, bool is_idle = false)
      : its_standing(standing), idle(is_idle) {}
  Standing standing() const override { return its_standing; }
  bool is_idle() const override { return idle; }
  void close() override { is_closed = true; }

  Standing its_standing;
  bool idle;
  bool is_closed = false;
};

struct PooledConnections : testing::Test {
  std::shared_ptr<FakeConnection> add(Standing standing, bool is_idle = false) {
    auto connection = std::make_shared<FakeConnection>(Standing::stranger);
    pool.add(connection);
    connection->its_standing = standing;
    connection->idle = is_idle;
    return connection;
  }

  ConnectionPool pool{{.max_strangers = 2, .max_members = 2, .max_streams = 1}};
};

TEST_F(PooledConnections, TheOldestStrangerGoesForANewOne) {
  const auto member = add(Standing::member);
  const auto first = add(Standing::stranger), second = add(Standing::stranger),
             third = add(Standing::stranger);
  EXPECT_TRUE(first->is_closed);
  EXPECT_FALSE(second->is_closed);
  const auto fourth = add(Standing::stranger);  // although the first one still lives
  EXPECT_TRUE(second->is_closed);
  EXPECT_FALSE(third->is_closed);
  EXPECT_FALSE(member->is_closed);
}

TEST_F(PooledConnections, ThatAreGoneLeaveTheirPlaces) {
  add(Standing::stranger);  // nobody keeps it
  const auto first = add(Standing::stranger), second = add(Standing::stranger);
  EXPECT_FALSE(first->is_closed);
  add(Standing::stream);
  EXPECT_TRUE(pool.has_room_for_stream());
}

TEST_F(PooledConnections, TheOldestIdleMemberGoesForANewOne) {
  const auto busy = add(Standing::member);
  EXPECT_TRUE(pool.has_room_for_member());
  const auto idle = add(Standing::member, /*is_idle=*/true);
  EXPECT_TRUE(pool.has_room_for_member());
  EXPECT_TRUE(idle->is_closed);
  EXPECT_FALSE(busy->is_closed);
}

TEST_F(PooledConnections, NoBusyMemberGoesForANewOne) {
  const auto first = add(Standing::member), second = add(Standing::member);
  EXPECT_FALSE(pool.has_room_for_member());
  EXPECT_FALSE(first->is_closed || second->is_closed);
}

TEST_F(PooledConnections, StreamsTakeNoPlacesOfMembers) {
  const auto stream = add(Standing::stream), member = add(Standing::member);
  EXPECT_FALSE(pool.has_room_for_stream());
  EXPECT_TRUE(pool.has_room_for_member());
}

}  // namespace
}  // namespace heed::serve
