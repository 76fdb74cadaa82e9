#include "heed/text/json_tokenizer.h"

#include <gtest/gtest.h>

#include <thread>

#include "support/expect_error.h"
#include "support/temporary_folder.h"
#include "text/small_tokenizer_json.h"

namespace heed::text {
namespace {

using Ids = std::vector<int>;
using Tokens = std::vector<std::string>;
using AllOffsets = std::vector<Offsets>;

const Json words = {{"type", "WhitespaceSplit"}};

JsonTokenizer word_tokenizer(Json sections = Json::object()) {
  if (!sections.contains("pre_tokenizer")) sections["pre_tokenizer"] = words;
  return small_tokenizer(word_level({"[UNK]", "[CLS]", "[SEP]", "the", "bat", "hangs"}), sections);
}

const Json bert_processing{
    {"type", "BertProcessing"}, {"sep", {"[SEP]", 2}}, {"cls", {"[CLS]", 1}}};

TEST(JsonTokenizer, GivesIdsTokensAndOffsetsInCodePoints) {
  const Encoding encoding = word_tokenizer().encode("the \xc3\xa9\xf0\x9f\xa6\x87 bat");
  EXPECT_EQ(encoding.ids, (Ids{3, 0, 4}));
  EXPECT_EQ(encoding.tokens, (Tokens{"the", "[UNK]", "bat"}));
  EXPECT_EQ(encoding.offsets, (AllOffsets{{0, 3}, {4, 6}, {7, 10}}));
  EXPECT_EQ(encoding.type_ids, (Ids{0, 0, 0}));
  EXPECT_EQ(encoding.attention_mask, (Ids{1, 1, 1}));
  EXPECT_EQ(encoding.special_mask, (Ids{0, 0, 0}));
}

TEST(JsonTokenizer, GivesNothingForAnEmptyText) {
  EXPECT_EQ(word_tokenizer().encode("").size(), 0U);
  EXPECT_EQ(word_tokenizer().encode(" \n ").size(), 0U);
  EXPECT_EQ(word_tokenizer({{"post_processor", bert_processing}}).encode("").ids, (Ids{1, 2}));
}

TEST(JsonTokenizer, PutsSpecialTokensAroundATextAndAPairUnlessToldNotTo) {
  const JsonTokenizer tokenizer = word_tokenizer({{"post_processor", bert_processing}});
  const Encoding one = tokenizer.encode("bat");
  EXPECT_EQ(one.ids, (Ids{1, 4, 2}));
  EXPECT_EQ(one.special_mask, (Ids{1, 0, 1}));
  EXPECT_EQ(one.offsets, (AllOffsets{{0, 0}, {0, 3}, {0, 0}}));
  const Encoding pair = tokenizer.encode_pair("the bat", "hangs");
  EXPECT_EQ(pair.ids, (Ids{1, 3, 4, 2, 5, 2}));
  EXPECT_EQ(pair.type_ids, (Ids{0, 0, 0, 0, 1, 1}));
  const Encoding bare = tokenizer.encode_pair("bat", "hangs", {.with_special = false});
  EXPECT_EQ(bare.ids, (Ids{4, 5}));
  EXPECT_EQ(bare.type_ids, (Ids{0, 1}));
}

TEST(JsonTokenizer, KnowsItsTokens) {
  const JsonTokenizer tokenizer = word_tokenizer(
      {{"added_tokens",
        Json::array({added_token("[SEP]", {{"special", true}}), added_token("<new>")})}});
  EXPECT_EQ(tokenizer.size(), 7);
  EXPECT_EQ(tokenizer.id("bat"), 4);
  EXPECT_EQ(tokenizer.id("<new>"), 6);
  EXPECT_EQ(tokenizer.id("cow"), std::nullopt);
  EXPECT_EQ(tokenizer.token(6), "<new>");
  EXPECT_EQ(tokenizer.token(7), std::nullopt);
  EXPECT_TRUE(tokenizer.is_special(2));
  EXPECT_FALSE(tokenizer.is_special(6));
}

TEST(JsonTokenizer, JoinsTokensWithSpacesWhenThereIsNoDecoder) {
  const JsonTokenizer tokenizer =
      word_tokenizer({{"added_tokens", Json::array({added_token("[SEP]", {{"special", true}})})}});
  EXPECT_EQ(tokenizer.decode(Ids{3, 4, 2}), "the bat [SEP]");
  EXPECT_EQ(tokenizer.decode(Ids{3, 4, 2}, {.skip_special = true}), "the bat");
  EXPECT_THROW(tokenizer.decode(Ids{6}), Error);
  EXPECT_THROW(tokenizer.decode(Ids{-1}), Error);
}

TEST(JsonTokenizer, TakesEveryMaximalPartThatIsNotUtf8ForAReplacementCharacter) {
  const JsonTokenizer tokenizer =
      small_tokenizer(word_level({"[UNK]", "\xef\xbf\xbd", "a"}),
                      {{"pre_tokenizer", {{"type", "FixedLength"}, {"length", 1}}}});
  EXPECT_EQ(tokenizer.encode("a\xff").ids, (Ids{2, 1}));
  EXPECT_EQ(tokenizer
                .encode("\xe2\x82"
                        "a")
                .ids,
            (Ids{1, 2}));
  EXPECT_EQ(tokenizer.encode("\xf0\x9f\xa6").ids, (Ids{1}));
  EXPECT_EQ(tokenizer.encode("\xed\xa0\x80").ids, (Ids{1, 1, 1}));  // a surrogate
  EXPECT_EQ(tokenizer.encode("\xc0\x80").ids, (Ids{1, 1}));         // an overlong form
}

TEST(JsonTokenizer, LoadsAFileWithoutTheTypeOfItsModel) {
  const auto without_type = [](Json model) {
    model.erase("type");
    return model;
  };
  EXPECT_EQ(small_tokenizer(without_type(bpe({"a", "b", "ab"}, {"a b"}))).encode("ab").ids, Ids{2});
  EXPECT_EQ(small_tokenizer(without_type(word_level({"[UNK]", "a"}))).encode("a").ids, Ids{1});
  const Json unigram{{"unk_id", 0},
                     {"vocab", Json::array({Json::array({"<unk>", 0}), Json::array({"a", -1})})}};
  EXPECT_EQ(small_tokenizer(unigram).encode("a").ids, Ids{1});
  const Json word_piece{{"vocab", vocabulary({"[UNK]", "a", "##b"})},
                        {"unk_token", "[UNK]"},
                        {"continuing_subword_prefix", "##"},
                        {"max_input_chars_per_word", 100}};
  EXPECT_EQ(small_tokenizer(word_piece).encode("ab").ids, (Ids{1, 2}));
}

TEST(JsonTokenizer, NamesTheSectionThatItCannotRead) {
  const auto refused = [](const std::string& message, const Json& sections) {
    expect_error(ErrorKind::model, "tokenizer.json: " + message, [&] { word_tokenizer(sections); });
  };
  refused("normalizer.type: expected this field, found none", {{"normalizer", Json::object()}});
  refused("normalizer: expected an object, found 3", {{"normalizer", 3}});
  refused(
      "pre_tokenizer.type: expected one of BertPreTokenizer, ByteLevel, CharDelimiterSplit, "
      "Digits, FixedLength, Metaspace, Punctuation, Sequence, Split, UnicodeScripts, Whitespace, "
      "WhitespaceSplit, found Magic",
      {{"pre_tokenizer", {{"type", "Magic"}}}});
  refused("truncation.max_length: expected this field, found none",
          {{"truncation", Json::object()}});
  refused("decoder.decoders[1].type: expected a string, found 1",
          {{"decoder", {{"type", "Sequence"}, {"decoders", {{{"type", "Fuse"}}, {{"type", 1}}}}}}});
  refused("model.vocab: expected an object of pieces and ids",
          {{"model", {{"type", "WordLevel"}, {"vocab", 1}}}});
  refused("model.vocab: expected each id once, found 1 twice",
          {{"model", {{"type", "WordLevel"}, {"vocab", {{"a", 1}, {"b", 1}}}}}});
  refused("model.vocab: expected ids from 0 to 4194303, found another value for \"a\"",
          {{"model", {{"type", "WordLevel"}, {"vocab", {{"a", 5000000}}}}}});
}

TEST(JsonTokenizer, RefusesDeepNesting) {
  Json deep{{"type", "NFC"}};
  for (int i = 0; i < 40; ++i) deep = {{"type", "Sequence"}, {"normalizers", Json::array({deep})}};
  expect_error(ErrorKind::model, "tokenizer.json: expected at most 64 levels of JSON, found more",
               [&] {
                 word_tokenizer({{"normalizer", deep}});
               });
}

TEST(JsonTokenizer, RefusesUnknownTextWithoutATokenForIt) {
  const JsonTokenizer tokenizer = small_tokenizer(word_level({"a"}));
  EXPECT_EQ(tokenizer.encode("a").ids, Ids{0});
  expect_error(ErrorKind::model,
               "tokenizer.json: model.unk_token: expected a piece of the vocabulary for text that "
               "is unknown, found [UNK]",
               [&] { tokenizer.encode("b"); });
}

TEST(JsonTokenizer, LoadsAFileAndNamesIt) {
  const TemporaryFolder folder;
  const std::string path = folder.write("tokenizer.json", tokenizer_json(word_level({"a"})).dump());
  EXPECT_EQ(JsonTokenizer::load(path).size(), 1);
  const std::string damaged = folder.write("damaged.json", "{\"model\": ");
  expect_error(ErrorKind::model, damaged + ": expected JSON, found a mistake at byte 11",
               [&] { JsonTokenizer::load(damaged); });
}

TEST(JsonTokenizer, TextsDoNotGrowWithoutEnd) {
  Json twice{{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", "aa"}};
  Json steps = Json::array();
  for (int i = 0; i < 60; ++i) steps.push_back(twice);
  const JsonTokenizer tokenizer =
      word_tokenizer({{"normalizer", {{"type", "Sequence"}, {"normalizers", steps}}}});
  EXPECT_THROW(tokenizer.encode("aaaa"), Error);
  EXPECT_EQ(tokenizer.encode("the hen").ids, (Ids{3, 0}));
}

TEST(JsonTokenizer, ServesManyThreadsAtOnce) {
  const JsonTokenizer tokenizer = small_tokenizer(bpe({"a", "b", "ab", "aba"}, {"a b", "ab a"}));
  const Ids expected = tokenizer.encode("abaabbab").ids;
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t, copy = tokenizer] {
      for (int i = 0; i < 200; ++i) wrong[t] += copy.encode("abaabbab").ids != expected;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST(JsonTokenizer, KeepsTheWordsOfTwoTokenizersApart) {
  const JsonTokenizer merges = small_tokenizer(bpe({"a", "b", "ab"}, {"a b"}));
  const JsonTokenizer characters = small_tokenizer(bpe({"a", "b"}, {}));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(merges.encode("ab").ids, Ids{2});
    EXPECT_EQ(characters.encode("ab").ids, (Ids{0, 1}));
  }
}

}  // namespace
}  // namespace heed::text
