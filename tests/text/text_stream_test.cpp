#include "heed/text/text_stream.h"

#include <gtest/gtest.h>

#include "heed/base/random.h"
#include "heed/base/utf8.h"

namespace heed::text {
namespace {

const std::vector<std::string> lines = {"der bär läuft über die straße", "a bat in a cave , 蝙蝠",
                                        "two  words\tand a tab"};

std::string streamed(const Tokenizer& tokenizer, std::span<const int> ids) {
  TextStream stream(tokenizer);
  std::string text;
  for (const int id : ids) {
    const std::string part = stream.add(id);
    EXPECT_TRUE(is_valid_utf8(part)) << "half a character";
    text += part;
  }
  return text + stream.finish();
}

TEST(TextStream, GivesWhatDecodingGivesForAnyTokens) {
  for (const Subwords subwords : {Subwords::bpe, Subwords::character, Subwords::byte}) {
    for (const bool is_running_text : {false, true}) {
      const auto tokenizer = Tokenizer::train(
          lines, {.vocabulary = 60, .subwords = subwords, .is_running_text = is_running_text});
      SCOPED_TRACE(std::string(name_of(subwords)) + (is_running_text ? " running" : ""));
      Rng rng(7);
      for (int round = 0; round < 300; ++round) {
        std::vector<int> ids(rng.below(12));
        for (int& id : ids) id = static_cast<int>(rng.below(tokenizer.size()));
        ASSERT_EQ(streamed(tokenizer, ids), tokenizer.decode(ids)) << testing::PrintToString(ids);
      }
      for (const std::string& line : lines) {
        EXPECT_EQ(streamed(tokenizer, tokenizer.encode(line)), line);
      }
    }
  }
}

TEST(TextStream, WaitsForTheWholeCharacter) {
  const auto tokenizer = Tokenizer::train({}, {.subwords = Subwords::byte});
  TextStream stream(tokenizer);
  const auto ids = tokenizer.encode("ß!");
  EXPECT_EQ(stream.add(ids[0]), "");
  EXPECT_EQ(stream.add(ids[1]), "ß");
  EXPECT_EQ(stream.add(ids[2]), "!");
  EXPECT_EQ(stream.add(ids[0]), "");
  EXPECT_EQ(stream.finish(), "\ufffd");
}

TEST(TextStream, KeepsTheSpaceBeforeATextThatGoesOn) {
  const auto tokenizer = Tokenizer::train(lines, {.vocabulary = 60, .subwords = Subwords::bpe});
  const auto ids = tokenizer.encode("bat");
  std::string alone, behind;
  TextStream first(tokenizer), second(tokenizer, /*is_continuation=*/true);
  for (const int id : ids) {
    alone += first.add(id);
    behind += second.add(id);
  }
  EXPECT_EQ(alone, "bat");
  EXPECT_EQ(behind, " bat");
}

TEST(TextStream, SpecialTokensAloneBeginAText) {
  const auto tokenizer = Tokenizer::train(lines, {.vocabulary = 60, .subwords = Subwords::bpe});
  const auto ids = tokenizer.encode("bat");
  const auto first_part_after = [&](std::vector<int> before) {
    return TextStream::after(before, tokenizer).add(ids.front());
  };
  const std::string part = first_part_after({tokenizer.tokens().begin});
  EXPECT_FALSE(part.starts_with(' ')) << part;
  EXPECT_EQ(first_part_after({}), part);
  EXPECT_EQ(first_part_after({tokenizer.tokens().begin, ids.front()}), ' ' + part);
}

}  // namespace
}  // namespace heed::text
