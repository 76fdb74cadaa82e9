#include "heed/metrics/word_alignment.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"

namespace heed::metrics {
namespace {

using Links = std::vector<AlignedWords>;

TEST(Pharaoh, WritesAndReadsPairsInOrder) {
  const Links links{{0, 0}, {1, 2}, {3, 1}};
  EXPECT_EQ(to_pharaoh(links), "0-0 1-2 3-1");
  EXPECT_EQ(parse_pharaoh(" 0-0 1-2\t3-1 ", "a.txt:1"), links);
  EXPECT_EQ(to_pharaoh({}), "");
  EXPECT_TRUE(parse_pharaoh("", "a.txt:1").empty());
}

TEST(Pharaoh, RefusesWhatIsNoLink) {
  for (const std::string word : {"0", "0-", "-1", "0?1", "a-1", "0-1x", "0-1-2"}) {
    try {
      parse_pharaoh("0-0 " + word, "a.txt:3");
      ADD_FAILURE() << "no error: " << word;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::data);
      EXPECT_EQ(std::string(error.what()), "a.txt:3: expected links like 0-1, found " + word);
    }
  }
}

TEST(ReferenceAlignment, ReadsSureAndPossibleLinks) {
  const ReferenceAlignment reference = parse_reference_alignment(" 0-0 12-3\t1?2 ", "a.txt:1");
  EXPECT_EQ(reference.sure, (Links{{0, 0}, {12, 3}}));
  EXPECT_EQ(reference.possible, (Links{{1, 2}}));
}

TEST(ReferenceAlignment, RefusesWhatIsNoLink) {
  for (const std::string word :
       {"0", "0-", "-1", "0:1", "a-1", "0-1x", "0--1", "0-1-2", "99999999999999999999-1"}) {
    try {
      parse_reference_alignment("0-0 " + word, "a.txt:3");
      ADD_FAILURE() << "no error: " << word;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::data);
      EXPECT_EQ(std::string(error.what()),
                "a.txt:3: expected links like 0-1 or 0?1, found '" + word + "'");
    }
  }
}

}  // namespace
}  // namespace heed::metrics
