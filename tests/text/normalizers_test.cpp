#include "heed/text/normalizers.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "heed/text/code_points.h"
#include "support/expect_error.h"

namespace heed::text {
namespace {

using Json = nlohmann::json;
using Sources = std::vector<SourceSpan>;

Normalizer normalizer(const Json& settings) {
  return read_normalizer(io::JsonFields::of(settings, "normalizer"));
}

AlignedText normalize(const Json& settings, std::string_view text) {
  AlignedText aligned = align(text);
  normalizer(settings)(aligned);
  EXPECT_EQ(aligned.bytes.size(), aligned.sources.size());
  return aligned;
}

std::string normalized(const Json& settings, std::string_view text) {
  return normalize(settings, text).bytes;
}

TEST(Normalizers, GiveTheNormalFormsOfUnicode) {
  const std::string composed = "\u00e9 \ufb01 \u1e69 \uac01", one = "e\u0301 \ufb01";
  EXPECT_EQ(normalized({{"type", "NFC"}}, one), "\u00e9 \ufb01");
  EXPECT_EQ(normalized({{"type", "NFD"}}, composed),
            "e\u0301 \ufb01 s\u0323\u0307 \u1100\u1161\u11a8");
  EXPECT_EQ(normalized({{"type", "NFKC"}}, composed), "\u00e9 fi \u1e69 \uac01");
  EXPECT_EQ(normalized({{"type", "NFKD"}}, one), "e\u0301 fi");
  EXPECT_EQ(normalized({{"type", "NFC"}}, "s\u0307\u0323 \u1100\u1161\u11a8"), "\u1e69 \uac01");
  EXPECT_EQ(normalized({{"type", "NFC"}}, "plain"), "plain");
}

TEST(Normalizers, AlignWhatTheyComposeAndDecompose) {
  EXPECT_EQ(normalize({{"type", "NFC"}}, "xe\u0301y").sources,
            (Sources{{0, 1}, {1, 2}, {1, 2}, {4, 5}}));
  EXPECT_EQ(normalize({{"type", "NFD"}}, "x\u00e9").sources,
            (Sources{{0, 1}, {1, 3}, {1, 3}, {1, 3}}));
}

TEST(Normalizers, MakeLowerCaseCharacterByCharacter) {
  EXPECT_EQ(normalized({{"type", "Lowercase"}}, "A\u00c4\u03a3 z"), "a\u00e4\u03c3 z");
  EXPECT_EQ(normalized({{"type", "Lowercase"}}, "\u0130"), "i\u0307");
}

TEST(Normalizers, StripSpacesAndAccents) {
  const Json left{{"type", "Strip"}, {"strip_left", true}, {"strip_right", false}};
  EXPECT_EQ(normalized(left, " \u2003\u00e9 "), "\u00e9 ");
  const Json both{{"type", "Strip"}, {"strip_left", true}, {"strip_right", true}};
  EXPECT_EQ(normalized(both, " \n "), "");
  EXPECT_EQ(normalized({{"type", "StripAccents"}}, "e\u0301\u00e9"), "e\u00e9");
}

TEST(Normalizers, CleanATextAsBertDoes) {
  const Json bert{{"type", "BertNormalizer"}};
  EXPECT_EQ(normalized(bert, "\u00c9t\u00e9\t\u4f60a\x01"), "ete  \u4f60 a");
  const Json cased{{"type", "BertNormalizer"}, {"lowercase", false}};
  EXPECT_EQ(normalized(cased, "\u00c9"), "\u00c9");
  EXPECT_EQ(normalize(bert, "\u4f60").sources, Sources(5, {0, 3}));
}

TEST(Normalizers, ReplaceStringsAndExpressions) {
  const Json spaces{{"type", "Replace"}, {"pattern", {{"Regex", " +"}}}, {"content", "\u2581"}};
  EXPECT_EQ(normalized(spaces, "a   b"),
            "a\u2581"
            "b");
  EXPECT_EQ(normalize(spaces, "a  b").sources, (Sources{{0, 1}, {2, 3}, {2, 3}, {2, 3}, {3, 4}}));
  const Json dots{{"type", "Replace"}, {"pattern", {{"String", "."}}}, {"content", ""}};
  EXPECT_EQ(normalized(dots, "a.b."), "ab");
}

TEST(Normalizers, PrependToATextThatIsNotEmpty) {
  const Json prepend{{"type", "Prepend"}, {"prepend", "\u2581"}};
  EXPECT_EQ(normalized(prepend, "ab"),
            "\u2581"
            "ab");
  EXPECT_EQ(normalized(prepend, ""), "");
  EXPECT_EQ(normalize(prepend, "ab").sources, (Sources{{0, 1}, {0, 1}, {0, 1}, {0, 1}, {1, 2}}));
}

TEST(Normalizers, StandForBytesByCharacters) {
  EXPECT_EQ(normalized({{"type", "ByteLevel"}}, "a \u00e9"), "a\u0120\u00c3\u00a9");
}

TEST(Normalizers, RunInASequence) {
  const Json sequence{{"type", "Sequence"},
                      {"normalizers", {{{"type", "NFD"}}, {{"type", "StripAccents"}}}}};
  EXPECT_EQ(normalized(sequence, "\u00e9"), "e");
}

TEST(Normalizers, WithoutATableLeaveATextAsItIs) {
  EXPECT_EQ(normalized({{"type", "Precompiled"}, {"precompiled_charsmap", nullptr}}, "a"), "a");
}

TEST(Normalizers, RefuseWhatTheyCannotDo) {
  const auto refused = [](const Json& settings, const std::string& message) {
    expect_error(ErrorKind::model, "normalizer: " + message, [&] { normalizer(settings); });
  };
  refused({{"type", "Precompiled"}, {"precompiled_charsmap", "*"}},
          "precompiled_charsmap: expected base64");
  refused(
      {{"type", "Precompiled"}, {"precompiled_charsmap", "AAAA"}},
      "precompiled_charsmap: expected the table of a SentencePiece model, found something else");
  refused({{"type", "Replace"}, {"pattern", {{"Regex", "("}}}, {"content", ""}},
          "pattern.Regex: expected a regular expression, found (: end pattern with unmatched "
          "parenthesis");
  refused({{"type", "Replace"}, {"pattern", {{"Regex", "(a)"}}}, {"content", "$1"}},
          "content: expected a text without references to groups of the expression, found $1");
}

}  // namespace
}  // namespace heed::text
