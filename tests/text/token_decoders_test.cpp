#include "heed/text/token_decoders.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "heed/base/error.h"

namespace heed::text {
namespace {

using Json = nlohmann::json;
using Tokens = std::vector<std::string>;

Tokens decode(const Json& settings, Tokens tokens) {
  read_token_decoder(io::JsonFields::of(settings, "decoder"))(tokens);
  return tokens;
}

TEST(TokenDecoders, GiveTheBytesOfVisibleCharacters) {
  const Json byte_level{{"type", "ByteLevel"}};
  EXPECT_EQ(decode(byte_level, {"a\u0120\u00c3", "\u00a9"}), Tokens{"a \u00e9"});
  EXPECT_EQ(decode(byte_level, {"\u00c3", "a"}), Tokens{"\ufffd"
                                                        "a"});
  EXPECT_EQ(decode(byte_level, {"\u2581"}), Tokens{"\u2581"}) << "an added token";
}

TEST(TokenDecoders, GiveTheBytesOfByteTokens) {
  const Json fallback{{"type", "ByteFallback"}};
  EXPECT_EQ(decode(fallback, {"a", "<0xC3>", "<0xA9>", "b"}), (Tokens{"a", "\u00e9", "b"}));
  EXPECT_EQ(decode(fallback, {"<0xC3>", "<0x41>"}), (Tokens{"\ufffd", "\ufffd"}));
  EXPECT_EQ(decode(fallback, {"<0xZZ>"}), Tokens{"<0xZZ>"});
}

TEST(TokenDecoders, JoinWordPieces) {
  const Json word_piece{{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}};
  EXPECT_EQ(decode(word_piece, {"un", "##able", ".", "##x"}), (Tokens{"un", "able", ".", "x"}));
}

TEST(TokenDecoders, GiveSpacesForWhatStandsForThem) {
  Json metaspace{{"type", "Metaspace"}, {"replacement", "_"}, {"prepend_scheme", "always"}};
  EXPECT_EQ(decode(metaspace, {"_a", "_b"}), (Tokens{"a", " b"}));
  metaspace["prepend_scheme"] = "never";
  EXPECT_EQ(decode(metaspace, {"_a"}), Tokens{" a"});
  EXPECT_EQ(decode({{"type", "BPEDecoder"}, {"suffix", "</w>"}}, {"a", "b</w>", "c</w>"}),
            (Tokens{"a", "b ", "c"}));
}

TEST(TokenDecoders, DropRepeatedTokensOfSpeech) {
  const Json ctc{
      {"type", "CTC"}, {"pad_token", "<pad>"}, {"word_delimiter_token", "|"}, {"cleanup", true}};
  EXPECT_EQ(decode(ctc, {"h", "h", "<pad>", "i", "|", "i"}), (Tokens{"h", "i", " ", "i"}));
}

TEST(TokenDecoders, ReplaceFuseAndStripInASequence) {
  const Json llama{{"type", "Sequence"},
                   {"decoders",
                    {{{"type", "Replace"}, {"pattern", {{"String", "_"}}}, {"content", " "}},
                     {{"type", "Fuse"}},
                     {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 2}}}}};
  EXPECT_EQ(decode(llama, {"__a", "_b___"}), Tokens{" a b "});
}

TEST(TokenDecoders, DoNotLetATextGrowWithoutEnd) {
  Json steps = Json::array();
  for (int i = 0; i < 60; ++i) {
    steps.push_back({{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", "aa"}});
  }
  EXPECT_THROW(decode({{"type", "Sequence"}, {"decoders", steps}}, {"a"}), Error);
}

}  // namespace
}  // namespace heed::text
