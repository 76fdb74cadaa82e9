#include "heed/text/pre_tokenizers.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/expect_error.h"

namespace heed::text {
namespace {

using Json = nlohmann::json;
using Pieces = std::vector<std::string>;

PreTokenizer pre_tokenizer(const Json& settings) {
  return read_pre_tokenizer(io::JsonFields::of(settings, "pre_tokenizer"));
}

Pieces split(const Json& settings, std::string_view text) {
  TextPieces pieces;
  pieces.append(align(text), {0, text.size()});
  pre_tokenizer(settings)(pieces);
  Pieces found;
  for (const TextPiece& piece : pieces.pieces()) found.emplace_back(pieces.bytes(piece));
  return found;
}

TEST(PreTokenizers, SplitAtSpacesAndPunctuation) {
  EXPECT_EQ(split({{"type", "WhitespaceSplit"}}, " a-b\u2003c\n"), (Pieces{"a-b", "c"}));
  EXPECT_EQ(split({{"type", "Whitespace"}}, "a_b --c!"), (Pieces{"a_b", "--", "c", "!"}));
  EXPECT_EQ(split({{"type", "BertPreTokenizer"}}, "a b--c"), (Pieces{"a", "b", "-", "-", "c"}));
  EXPECT_EQ(split({{"type", "CharDelimiterSplit"}, {"delimiter", "-"}}, "a--b"),
            (Pieces{"a", "b"}));
}

TEST(PreTokenizers, DoWithDelimitersWhatTheBehaviorSays) {
  const auto pieces = [](const std::string& behavior) {
    return split({{"type", "Punctuation"}, {"behavior", behavior}}, "-a--b-");
  };
  EXPECT_EQ(pieces("Removed"), (Pieces{"a", "b"}));
  EXPECT_EQ(pieces("Isolated"), (Pieces{"-", "a", "-", "-", "b", "-"}));
  EXPECT_EQ(pieces("MergedWithPrevious"), (Pieces{"-", "a-", "-", "b-"}));
  EXPECT_EQ(pieces("MergedWithNext"), (Pieces{"-a", "-", "-b", "-"}));
  EXPECT_EQ(pieces("Contiguous"), (Pieces{"-", "a", "--", "b", "-"}));
}

TEST(PreTokenizers, SplitDigits) {
  EXPECT_EQ(split({{"type", "Digits"}, {"individual_digits", true}}, "a12"),
            (Pieces{"a", "1", "2"}));
  EXPECT_EQ(split({{"type", "Digits"}}, "a12b"), (Pieces{"a", "12", "b"}));
}

TEST(PreTokenizers, SplitWithAPatternAndItsInverse) {
  const Json digits{{"type", "Split"}, {"pattern", {{"Regex", "\\d+"}}}, {"behavior", "Removed"}};
  EXPECT_EQ(split(digits, "a1b22"), (Pieces{"a", "b"}));
  Json inverse = digits;
  inverse["invert"] = true;
  EXPECT_EQ(split(inverse, "a1b22"), (Pieces{"1", "22"}));
  EXPECT_EQ(
      split({{"type", "Split"}, {"pattern", {{"String", "."}}}, {"behavior", "Isolated"}}, "a.b"),
      (Pieces{"a", ".", "b"}));
}

TEST(PreTokenizers, SplitWordsOfGpt2IntoVisibleBytes) {
  Json byte_level{{"type", "ByteLevel"}, {"add_prefix_space", true}};
  EXPECT_EQ(split(byte_level, "It's \u00e9  x"),
            (Pieces{"\u0120It", "'s", "\u0120\u00c3\u00a9", "\u0120", "\u0120x"}));
  byte_level["use_regex"] = false;
  EXPECT_EQ(split(byte_level, "a b"), (Pieces{"\u0120"
                                              "a\u0120"
                                              "b"}));
}

TEST(PreTokenizers, StandForSpacesByACharacter) {
  Json metaspace{{"type", "Metaspace"}, {"replacement", "\u2581"}};
  EXPECT_EQ(split(metaspace, "a  b"), (Pieces{"\u2581"
                                              "a",
                                              "\u2581",
                                              "\u2581"
                                              "b"}));
  EXPECT_EQ(split(metaspace, " a"), (Pieces{"\u2581"
                                            "a"}));
  metaspace["prepend_scheme"] = "never";
  metaspace["split"] = false;
  EXPECT_EQ(split(metaspace, "a b"), (Pieces{"a\u2581"
                                             "b"}));
  EXPECT_EQ(split({{"type", "Metaspace"}, {"replacement", "_"}, {"add_prefix_space", false}}, "a"),
            (Pieces{"a"}));
}

TEST(PreTokenizers, PrependToTheFirstPieceAloneIfToldTo) {
  const Json sequence{
      {"type", "Sequence"},
      {"pretokenizers",
       {{{"type", "CharDelimiterSplit"}, {"delimiter", "-"}},
        {{"type", "Metaspace"}, {"replacement", "_"}, {"prepend_scheme", "first"}}}}};
  EXPECT_EQ(split(sequence, "a-b"), (Pieces{"_a", "b"}));
}

TEST(PreTokenizers, SplitBetweenScriptsAndByLength) {
  EXPECT_EQ(split({{"type", "UnicodeScripts"}}, "Yes \u3069\u3053\u751f\u3002"),
            (Pieces{"Yes ", "\u3069\u3053\u751f", "\u3002"}));
  EXPECT_EQ(split({{"type", "FixedLength"}, {"length", 2}},
                  "\u00e9"
                  "abcd"),
            (Pieces{"\u00e9"
                    "a",
                    "bc", "d"}));
}

TEST(PreTokenizers, RefuseWhatTheyCannotDo) {
  const auto refused = [](const Json& settings, const std::string& message) {
    expect_error(ErrorKind::model, "pre_tokenizer: " + message, [&] { pre_tokenizer(settings); });
  };
  refused({{"type", "Split"}, {"pattern", {{"String", "a"}}}, {"behavior", "Eaten"}},
          "behavior: expected one of Removed, Isolated, MergedWithPrevious, MergedWithNext, "
          "Contiguous, found Eaten");
  refused({{"type", "FixedLength"}, {"length", 0}}, "length: expected a positive integer, found 0");
  refused({{"type", "Metaspace"}, {"replacement", "ab"}},
          "replacement: expected one character, found \"ab\"");
  refused({{"type", "Metaspace"},
           {"replacement", "_"},
           {"add_prefix_space", false},
           {"prepend_scheme", "always"}},
          "prepend_scheme: expected never, as add_prefix_space is false, found always");
}

// The pattern takes exponentially many steps.
TEST(PreTokenizers, GiveUpAnExpressionThatTakesTooManySteps) {
  const Json hostile{
      {"type", "Split"}, {"pattern", {{"Regex", "(a|b|ab)*c"}}}, {"behavior", "Isolated"}};
  std::string text;
  for (int i = 0; i < 200; ++i) text += "ab";
  text += " c";  // without a c there is no match to look for
  EXPECT_THROW(split(hostile, text), Error);
}

}  // namespace
}  // namespace heed::text
