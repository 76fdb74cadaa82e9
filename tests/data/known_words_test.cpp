#include "heed/data/known_words.h"

#include <gtest/gtest.h>

namespace heed::data {
namespace {

using Words = std::vector<std::string>;

TEST(KnownWords, NamesEachNewWordOnceInItsOrder) {
  KnownWords known;
  known.add("The cat sleeps.");
  known.add("Does the dog sleep?");
  EXPECT_EQ(known.unknown_in("The cat sleeps."), Words{});
  EXPECT_EQ(known.unknown_in("The elephant and the zebra see the elephant!"),
            (Words{"elephant", "and", "zebra", "see"}));
  EXPECT_EQ(known.unknown_in("  "), Words{});
}

TEST(KnownWords, DoesNotMindTheFirstLetterAndPunctuation) {
  KnownWords known;
  known.add("The cat didn't sleep.");
  EXPECT_EQ(known.unknown_in("Cat, \"cat\" (sleep) didn't - the?"), Words{});
  EXPECT_EQ(known.unknown_in("THE cat didnt sleep 2"), (Words{"THE", "didnt", "2"}));
}

}  // namespace
}  // namespace heed::data
