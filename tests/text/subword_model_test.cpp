#include "heed/text/subword_model.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "text/small_tokenizer_json.h"

namespace heed::text {
namespace {

using Tokens = std::vector<std::string>;
using AllOffsets = std::vector<Offsets>;

Tokens tokens(const Json& model, const std::string& text) {
  return small_tokenizer(model).encode(text).tokens;
}

AllOffsets offsets(const Json& model, const std::string& text) {
  return small_tokenizer(model).encode(text).offsets;
}

void expect_refused(const Json& model, const std::string& message) {
  expect_error(ErrorKind::model, "tokenizer.json: model." + message,
               [&] { small_tokenizer(model); });
}

Json with(Json model, const Json& changes) {
  model.update(changes);
  return model;
}

TEST(Bpe, MergesThePairThatWasLearnedFirst) {
  const Json model = bpe({"a", "b", "c", "bc", "ab"}, {"b c", "a b"});
  EXPECT_EQ(tokens(model, "abc"), (Tokens{"a", "bc"}));
  EXPECT_EQ(tokens(model, "abab"), (Tokens{"ab", "ab"}));
  EXPECT_EQ(offsets(model, "abc"), (AllOffsets{{0, 1}, {1, 3}}));
}

TEST(Bpe, MergesEqualPairsFromTheLeft) {
  EXPECT_EQ(tokens(bpe({"a", "aa"}, {"a a"}), "aaaaa"), (Tokens{"aa", "aa", "a"}));
}

TEST(Bpe, ReadsMergesAsPairsToo) {
  const Json model =
      with(bpe({"a", "b", "ab"}, {}), {{"merges", Json::array({Json::array({"a", "b"})})}});
  EXPECT_EQ(tokens(model, "ab"), Tokens{"ab"});
}

TEST(Bpe, DropsUnknownCharactersUnlessThereIsATokenForThem) {
  const Json model = bpe({"<unk>", "a"}, {});
  EXPECT_EQ(tokens(model, "axya"), (Tokens{"a", "a"}));
  const Json unknown = with(model, {{"unk_token", "<unk>"}});
  EXPECT_EQ(tokens(unknown, "axya"), (Tokens{"a", "<unk>", "<unk>", "a"}));
  const Json fused = with(unknown, {{"fuse_unk", true}});
  EXPECT_EQ(tokens(fused, "axya"), (Tokens{"a", "<unk>", "a"}));
  EXPECT_EQ(offsets(fused, "axya"), (AllOffsets{{0, 1}, {1, 3}, {3, 4}}));
}

TEST(Bpe, FallsBackToBytesWhenAllOfThemArePieces) {
  const Json model = with(bpe({"<unk>", "<0xC3>", "<0xA9>"}, {}),
                          {{"unk_token", "<unk>"}, {"byte_fallback", true}});
  EXPECT_EQ(tokens(model, "\u00e9"), (Tokens{"<0xC3>", "<0xA9>"}));
  EXPECT_EQ(tokens(model, "\u00e8"), (Tokens{"<unk>"}));
}

TEST(Bpe, MarksTheContinuationAndTheEndOfAWord) {
  const Json suffix =
      with(bpe({"a", "b</w>", "ab</w>"}, {"a b</w>"}), {{"end_of_word_suffix", "</w>"}});
  EXPECT_EQ(tokens(suffix, "ab"), Tokens{"ab</w>"});
  const Json prefix =
      with(bpe({"a", "##b", "ab"}, {"a ##b"}), {{"continuing_subword_prefix", "##"}});
  EXPECT_EQ(tokens(prefix, "abb"), (Tokens{"ab", "##b"}));
}

TEST(Bpe, TakesAWordThatIsAPieceAsAWholeIfToldTo) {
  const Json model = bpe({"a", "b", "c", "ab", "abc"}, {"a b"});
  EXPECT_EQ(tokens(model, "abc"), (Tokens{"ab", "c"}));
  EXPECT_EQ(tokens(with(model, {{"ignore_merges", true}}), "abc"), Tokens{"abc"});
}

TEST(Bpe, RefusesMergesOfWhatIsNotInTheVocabulary) {
  expect_refused(bpe({"a", "b"}, {"a b"}),
                 "merges[0]: expected pieces of the vocabulary, found \"ab\"");
  expect_refused(bpe({"a", "ab"}, {"a b"}),
                 "merges[0]: expected pieces of the vocabulary, found \"b\"");
  expect_refused(bpe({"a"}, {"a"}),
                 "merges[0]: expected two pieces with a space between them, found \"a\"");
  expect_refused(with(bpe({"a"}, {}), {{"dropout", 0.5}}),
                 "dropout: expected none, as a text is to get the same tokens every time, found "
                 "0.5");
}

const Json unigram{{"type", "Unigram"},
                   {"unk_id", 0},
                   {"vocab", Json::parse(R"([["<unk>", 0], ["a", -1], ["b", -1], ["ab", -1.5],
                                              ["<0xC3>", -9], ["<0xA9>", -9]])")}};

TEST(Unigram, FindsThePiecesWithTheLargestScore) {
  EXPECT_EQ(tokens(unigram, "aba"), (Tokens{"ab", "a"}));
  EXPECT_EQ(offsets(unigram, "aba"), (AllOffsets{{0, 2}, {2, 3}}));
}

TEST(Unigram, TakesNeighbouringUnknownCharactersForOneToken) {
  EXPECT_EQ(tokens(unigram, "axya"), (Tokens{"a", "xy", "a"}));
  EXPECT_EQ(small_tokenizer(unigram).encode("xy").ids, std::vector<int>{0});
  EXPECT_EQ(tokens(with(unigram, {{"byte_fallback", true}}), "a\u00e9"),
            (Tokens{"a", "<0xC3>", "<0xA9>"}));
}

TEST(Unigram, RefusesAWrongVocabulary) {
  expect_refused(with(unigram, {{"vocab", Json::array({Json::array({"a", "b"})})}}),
                 "vocab[0]: expected a list of a piece and its score");
  expect_refused(with(unigram, {{"unk_id", 6}}),
                 "unk_id: expected an integer from 0 to 5, found 6");
}

const Json word_piece{{"type", "WordPiece"},
                      {"unk_token", "[UNK]"},
                      {"continuing_subword_prefix", "##"},
                      {"max_input_chars_per_word", 5},
                      {"vocab", vocabulary({"[UNK]", "un", "una", "##aff", "##able", "##a"})}};

TEST(WordPiece, TakesTheLongestPieceAgainAndAgain) {
  EXPECT_EQ(tokens(word_piece, "unaa"), (Tokens{"una", "##a"}));
  EXPECT_EQ(offsets(word_piece, "unaa"), (AllOffsets{{0, 3}, {3, 4}}));
}

TEST(WordPiece, TakesAWordWithoutPiecesAndALongOneForUnknown) {
  EXPECT_EQ(tokens(word_piece, "unx"), Tokens{"[UNK]"});
  EXPECT_EQ(tokens(word_piece, "aun"), Tokens{"[UNK]"});
  EXPECT_EQ(tokens(word_piece, "unaaaa"), Tokens{"[UNK]"});
}

TEST(WordLevel, TakesAWordForAPieceOrForUnknown) {
  EXPECT_EQ(tokens(word_level({"[UNK]", "bat"}), "bat"), Tokens{"bat"});
  EXPECT_EQ(tokens(word_level({"[UNK]", "bat"}), "cow"), Tokens{"[UNK]"});
}

}  // namespace
}  // namespace heed::text
