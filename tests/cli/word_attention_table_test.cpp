#include "heed/cli/word_attention_table.h"

#include <gtest/gtest.h>

#include <sstream>

namespace heed::cli {
namespace {

TEST(WordAttentionTable, PutsTheWeightsOfAHeadBelowTheWords) {
  std::ostringstream out;
  print_row(out, {{"rabbit", "it"}, {"1.1", "1.2"}, {{0.25f, 1}, {0.75f, 0}}}, 0, "es");
  EXPECT_EQ(out.str(), "      rabbit    it\n  es    0.25  0.75\n");
}

}  // namespace
}  // namespace heed::cli
