#include "heed/text/charsmap.h"

#include <gtest/gtest.h>

#include "heed/base/random.h"
#include "support/expect_error.h"
#include "text/lower_case_tokenizer.h"

namespace heed::text {
namespace {

// Refused; or loaded, and then it encodes whatever text there is.
void expect_harmless(const std::string& model) {
  try {
    const Tokenizer tokenizer = Tokenizer::from_bytes(model);
    tokenizer.decode(tokenizer.encode("ab AB \xc3\xa9 \xf0\x9f\xa6\x87 zz"));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::model) << error.what();
  }
}

TEST(Charsmap, ATableThatLeadsToItsOwnTextsNormalises) {
  const Tokenizer tokenizer = Tokenizer::from_bytes(lower_case_tokenizer());
  EXPECT_EQ(tokenizer.encode("AbA"), tokenizer.encode("aba"));
  EXPECT_NE(tokenizer.encode("aBa"), tokenizer.encode("aba"));
}

TEST(Charsmap, FindsTheShortestBeginningThatItHas) {
  const auto map = Charsmap::read(charsmap(lower_case_trie(), std::string("a\0", 2)));
  ASSERT_TRUE(map.has_value());
  EXPECT_EQ(map->find("AB"), "a");
  EXPECT_EQ(map->find("BA"), std::nullopt);
  EXPECT_EQ(map->find(""), std::nullopt);
  EXPECT_EQ(map->find(std::string_view("\0A", 2)), std::nullopt);
}

TEST(Charsmap, ATrieThatLeadsOutOfItselfIsRefused) {
  const auto expect_refused = [](const std::vector<std::uint32_t>& trie, const std::string& texts) {
    for (const int spec : {3, 5}) {  // of the normalizer and of the denormalizer
      expect_error(ErrorKind::model, "tokenizer: not a SentencePiece model", [&] {
        Tokenizer::from_bytes(tokenizer_with_charsmap(charsmap(trie, texts), spec));
      });
    }
  };
  const std::string texts("a\0", 2);
  expect_refused({}, texts);
  expect_refused(std::vector<std::uint32_t>(255), texts);  // no room for all children of a node
  std::vector<std::uint32_t> trie = lower_case_trie();
  trie[0] = 256 << 10;
  expect_refused(trie, texts);
  trie = lower_case_trie();
  trie[child_place] |= 0x7ffffc00;
  expect_refused(trie, texts);
  trie = lower_case_trie();
  trie[leaf_place] = 0x80000003;
  expect_refused(trie, texts);
  trie[leaf_place] = 0xffffffff;
  expect_refused(trie, texts);
}

TEST(Charsmap, APartThatIsNoMessageIsRefused) {
  const std::string good = lower_case_tokenizer();
  EXPECT_TRUE(has_safe_charsmaps(good));
  EXPECT_TRUE(has_safe_charsmaps(""));
  EXPECT_FALSE(has_safe_charsmaps(good.substr(0, good.size() - 1)));
  EXPECT_FALSE(has_safe_charsmaps(good + '\x1a'));      // a length is missing
  EXPECT_FALSE(has_safe_charsmaps(good + "\x1b\x1c"));  // a group, which nothing may hide in
  EXPECT_FALSE(has_safe_charsmaps(good + "\x9a\x80\x80\x80\x70\x01"));  // field 3 after overflow
  EXPECT_FALSE(has_safe_charsmaps(good + message_field(3, message_field(2, "abc"))));
}

TEST(Charsmap, NoFlippedBitOfATableIsHarmful) {
  const std::string good = lower_case_tokenizer();
  const std::size_t begin = good.size() - 1040;
  for (std::size_t bit = 8 * begin; bit < 8 * good.size(); ++bit) {
    std::string model = good;
    model[bit / 8] = static_cast<char>(model[bit / 8] ^ 1 << bit % 8);
    expect_harmless(model);
  }
}

TEST(Charsmap, NoRandomTrieIsHarmful) {
  Rng rng(1);
  for (int i = 0; i < 300; ++i) {
    std::vector<std::uint32_t> trie(256 * (1 + i % 3));
    for (std::uint32_t& unit : trie) {
      unit = static_cast<std::uint32_t>(rng.below(std::uint64_t{1} << (i % 2 == 0 ? 32 : 20)));
    }
    expect_harmless(tokenizer_with_charsmap(charsmap(trie, std::string("abc\0def\0", 8))));
  }
}

}  // namespace
}  // namespace heed::text
