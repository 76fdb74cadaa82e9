#include "heed/cli/nearest_name.h"

#include <gtest/gtest.h>

namespace heed::cli {
namespace {

TEST(NearestName, DistancesCountInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("beam", "baem"), 1u);
  EXPECT_EQ(edit_distance("beam", "beam"), 0u);
}

TEST(NearestName, AnAbbreviationIsBetterThanAMisspelling) {
  const std::vector<std::string> names{"--similarity", "--dim", "--simple-mask"};
  EXPECT_EQ(nearest_name("--sim", names), "--similarity");
  EXPECT_EQ(nearest_name("--dmi", names), "--dim");
}

TEST(NearestName, NothingIsNearAWordOfItsOwn) {
  EXPECT_EQ(nearest_name("--colour", {"--model", "--n"}), std::nullopt);
  EXPECT_EQ(nearest_name("--m", {"--n"}), std::nullopt);
  EXPECT_EQ(did_you_mean("trian", {"train", "fill"}), "; did you mean train?");
  EXPECT_EQ(did_you_mean("zzz", {"train", "fill"}), "");
}

}  // namespace
}  // namespace heed::cli
