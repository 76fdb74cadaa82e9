#include "heed/data/text_windows.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "heed/base/error.h"

namespace heed::data {
namespace {

TextWindows counting(int count, Index length) {
  std::vector<int> ids(static_cast<std::size_t>(count));
  std::iota(ids.begin(), ids.end(), 0);
  return TextWindows(std::move(ids), length);
}

TEST(TextWindows, ShowEveryTokenAndTheOneBehindIt) {
  const TextWindows text = counting(100, 7);
  for (Index window = 0; window < text.size(); ++window) {
    const Index begin = text.begin_of(window, 1, 0);
    const auto input = text.input(begin), next = text.next(begin);
    ASSERT_EQ(input.size(), 7u);
    for (std::size_t i = 0; i < input.size(); ++i) {
      EXPECT_EQ(input[i], begin + static_cast<Index>(i));
      EXPECT_EQ(next[i], input[i] + 1);
    }
  }
}

TEST(TextWindows, OfAnEpochLieSideBySideAndCoverNearlyAll) {
  for (const int count : {15, 16, 100, 1000}) {
    const TextWindows text = counting(count, 7);
    for (Index epoch = 0; epoch < 5; ++epoch) {
      std::set<Index> begins;
      for (Index window = 0; window < text.size(); ++window) {
        begins.insert(text.begin_of(window, 3, epoch));
      }
      ASSERT_EQ(static_cast<Index>(begins.size()), text.size()) << "a window came twice";
      EXPECT_GE(*begins.begin(), 0);
      EXPECT_LE(*begins.rbegin() + 7 + 1, count);
      EXPECT_EQ(*begins.rbegin() - *begins.begin(), 7 * (text.size() - 1));
      EXPECT_GT(7 * text.size(), count - 1 - 2 * 7);
    }
  }
}

TEST(TextWindows, AreCutAndOrderedAnewInEveryEpoch) {
  const TextWindows text = counting(1000, 7);
  std::set<Index> cuts, firsts;
  for (Index epoch = 0; epoch < 20; ++epoch) {
    cuts.insert(text.begin_of(0, 3, epoch) % 7);
    firsts.insert(text.begin_of(0, 3, epoch));
  }
  EXPECT_GT(cuts.size(), 3u);
  EXPECT_GT(firsts.size(), 15u);
  EXPECT_EQ(text.begin_of(5, 3, 2), text.begin_of(5, 3, 2));
}

TEST(TextWindows, RefuseATextThatIsShorterThanOne) {
  EXPECT_EQ(counting(8, 7).size(), 1);
  try {
    counting(7, 7);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data);
    EXPECT_STREQ(error.what(),
                 "text: expected at least 8 tokens, one window and what follows it, found 7");
  }
}

TEST(EncodeText, IsTheWholeTextWithItsLineEnds) {
  const std::vector<std::string> lines{"a cave", "", "a bat in a cave"};
  const auto tokenizer = text::Tokenizer::train(
      lines, {.subwords = text::Subwords::character, .is_running_text = true});
  EXPECT_EQ(encode_text(lines, tokenizer), tokenizer.encode("a cave\n\na bat in a cave\n"));
  std::vector<std::string> many;
  std::string whole;
  for (int i = 0; i < 1000; ++i) {
    many.push_back(lines[static_cast<std::size_t>(i) % 3]);
    whole += many.back() + '\n';
  }
  EXPECT_EQ(tokenizer.decode(encode_text(many, tokenizer)), whole);
}

}  // namespace
}  // namespace heed::data
