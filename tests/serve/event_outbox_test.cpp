#include "heed/serve/event_outbox.h"

#include <gtest/gtest.h>

namespace heed::serve {
namespace {

struct Box {
  int num_wakes = 0;
  std::shared_ptr<EventOutbox> outbox = std::make_shared<EventOutbox>(100, [this] { ++num_wakes; });
};

TEST(EventOutbox, WritesEventsAsBrowsersReadThem) {
  Box box;
  EXPECT_TRUE(box.outbox->send("update", "{\"loss\":2.5}"));
  EXPECT_TRUE(box.outbox->send("text", "two\nlines"));
  EXPECT_EQ(box.num_wakes, 2);
  const auto batch = box.outbox->take();
  EXPECT_EQ(batch.text,
            "event: update\ndata: {\"loss\":2.5}\n\nevent: text\ndata: two\ndata: lines\n\n");
  EXPECT_FALSE(batch.is_last);
  EXPECT_EQ(box.outbox->take().text, "");
}

TEST(EventOutbox, EndsWhenNobodyKeepsTheStream) {
  Box box;
  auto stream = EventOutbox::stream(box.outbox);
  stream->send("a", "b");
  auto second = stream;
  stream.reset();
  EXPECT_EQ(box.num_wakes, 1);
  second.reset();
  EXPECT_EQ(box.num_wakes, 2);
  const auto batch = box.outbox->take();
  EXPECT_EQ(batch.text, "event: a\ndata: b\n\n");
  EXPECT_FALSE(batch.is_last) << "what was sent is written first";
  EXPECT_TRUE(box.outbox->take().is_last);
}

TEST(EventOutbox, ClosesWhenTheClientIsTooSlow) {
  Box box;
  int sent = 0;
  while (sent < 1000 && box.outbox->send("a", "0123456789")) ++sent;
  EXPECT_LE(sent, 100 / 10);
  EXPECT_FALSE(box.outbox->is_open());
  EXPECT_TRUE(box.outbox->take().is_last);
  const int num_wakes = box.num_wakes;
  EXPECT_FALSE(box.outbox->send("a", "b"));
  EXPECT_EQ(box.num_wakes, num_wakes) << "nobody is there to wake";
}

TEST(EventOutbox, OneEventMayBeLarge) {
  Box box;
  const std::string large(1000, 'x');
  EXPECT_TRUE(box.outbox->send("history", large));
  EXPECT_NE(box.outbox->take().text.find(large), std::string::npos);
  EXPECT_TRUE(box.outbox->send("history", large));
  EXPECT_FALSE(box.outbox->send("update", "1")) << "the one before has not been taken";
}

TEST(EventOutbox, WakesNobodyWhenClosed) {
  Box box;
  auto stream = EventOutbox::stream(box.outbox);
  box.outbox->close();
  EXPECT_FALSE(stream->is_open());
  EXPECT_FALSE(stream->send("a", "b"));
  stream.reset();
  EXPECT_EQ(box.num_wakes, 0);
}

}  // namespace
}  // namespace heed::serve
