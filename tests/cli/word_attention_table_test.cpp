#include "heed/cli/word_attention_table.h"

#include <gtest/gtest.h>

#include <sstream>

namespace heed::cli {
namespace {

TEST(WordAttentionTable, HasOneLineForEachWord) {
  std::ostringstream out;
  print_table(out, {{"cat", "it"}, {"1.1", "1.2"}, {{0.25f, 1}, {0.75f, 0}}});
  EXPECT_EQ(out.str(), "        1.1   1.2\n  cat  0.25  1.00\n  it   0.75  0.00\n");
}

}  // namespace
}  // namespace heed::cli
