#include "heed/models/gguf_vocabulary.h"

#include <gtest/gtest.h>

#include "heed/text/byte_sentencepiece.h"
#include "heed/text/tokenizer.h"
#include "support/expect_error.h"

namespace heed::models {
namespace {

const std::vector<std::string> lines{"the cat sat on the mat", "the bat sat on the cat"};

text::Tokenizer tokenizer(text::Subwords subwords) {
  return text::Tokenizer::train(
      lines,
      {.vocabulary = 30, .subwords = subwords, .is_running_text = true, .fit_vocabulary = true});
}

TEST(GgufVocabulary, HasThePiecesOfASentencePieceModelByTheirIds) {
  const text::Tokenizer bpe = tokenizer(text::Subwords::bpe);
  const GgufVocabulary vocabulary = gguf_vocabulary(bpe.bytes(), "tokenizer.model");
  EXPECT_EQ(vocabulary.model, "llama");
  EXPECT_FALSE(vocabulary.has_space_before);
  ASSERT_EQ(std::ssize(vocabulary.tokens), bpe.size());
  for (int id = 0; id < bpe.size(); ++id) {
    EXPECT_EQ(vocabulary.tokens[static_cast<std::size_t>(id)], bpe.piece(id));
  }
  constexpr std::int32_t normal = 1, unknown = 2, control = 3, user = 4;
  EXPECT_EQ((std::vector<std::int32_t>(vocabulary.types.begin(), vocabulary.types.begin() + 5)),
            (std::vector<std::int32_t>{control, unknown, control, control, user}));
  EXPECT_EQ(vocabulary.types.back(), normal);
  EXPECT_LT(vocabulary.scores.back(), 0);
}

TEST(GgufVocabulary, UnigramsAndCharactersAreSegmentedByScores) {
  for (const text::Subwords subwords : {text::Subwords::unigram, text::Subwords::character}) {
    EXPECT_EQ(gguf_vocabulary(tokenizer(subwords).bytes(), "tokenizer.model").model, "t5");
  }
}

TEST(GgufVocabulary, BytesAreByteLevelBpeWithoutMerges) {
  const GgufVocabulary vocabulary = gguf_vocabulary(text::byte_sentencepiece(), "tokenizer.model");
  EXPECT_EQ(vocabulary.model, "gpt2");
  ASSERT_EQ(vocabulary.tokens.size(), 260u);
  EXPECT_EQ(vocabulary.tokens[4 + 'A'], "A");
  EXPECT_EQ(vocabulary.tokens[4 + ' '], "\xc4\xa0");  // U+0120
  EXPECT_TRUE(vocabulary.merges.empty());
}

TEST(GgufVocabulary, RefusesWords) {
  const auto words =
      text::Tokenizer::train(lines, {.vocabulary = 30, .subwords = text::Subwords::word});
  expect_error(ErrorKind::model,
               "tokenizer.model: subwords: GGUF has no form for words; it has one for bpe, "
               "unigram, char and byte",
               [&] { gguf_vocabulary(words.bytes(), "tokenizer.model"); });
}

constexpr std::string_view byte_level = R"({
  "added_tokens": [{"id": 3, "content": "<|end|>", "special": true}],
  "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},
  "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}})";

TEST(GgufVocabulary, ReadsByteLevelBpeOfATokenizerJson) {
  const GgufVocabulary vocabulary = gguf_vocabulary_of_json(byte_level, "tokenizer.json");
  EXPECT_EQ(vocabulary.model, "gpt2");
  EXPECT_EQ(vocabulary.pre_tokenizer, "gpt-2");
  EXPECT_EQ(vocabulary.tokens, (std::vector<std::string>{"a", "b", "ab", "<|end|>"}));
  EXPECT_EQ(vocabulary.types, (std::vector<std::int32_t>{1, 1, 1, 3}));
  EXPECT_EQ(vocabulary.merges, std::vector<std::string>{"a b"});
}

TEST(GgufVocabulary, ReadsBpeWithScoresByRankAndUnigrams) {
  const GgufVocabulary bpe = gguf_vocabulary_of_json(
      R"({"normalizer": {"type": "Prepend", "prepend": "_"}, "model": {"type": "BPE",
          "byte_fallback": true, "vocab": {"<unk>": 0, "<0x41>": 1, "a": 2, "b": 3, "ab": 4,
          "aab": 5}, "merges": ["a b", "a ab"]}})",
      "tokenizer.json");
  EXPECT_EQ(bpe.model, "llama");
  EXPECT_TRUE(bpe.has_space_before);
  EXPECT_EQ(bpe.types[1], 6);
  EXPECT_GT(bpe.scores[4], bpe.scores[5]);
  const GgufVocabulary unigram = gguf_vocabulary_of_json(
      R"({"model": {"unk_id": 0, "vocab": [["<unk>", 0], ["a", -1.5]]}})", "tokenizer.json");
  EXPECT_EQ(unigram.model, "t5");
  EXPECT_EQ(unigram.types, (std::vector<std::int32_t>{2, 1}));
  EXPECT_EQ(unigram.scores, (std::vector<float>{0, -1.5f}));
}

TEST(GgufVocabulary, OfBpeGetsTheBytesThatItLacks) {
  GgufVocabulary vocabulary{.model = "llama",
                            .tokens = {"<unk>", "<0x41>", "b"},
                            .scores = {0, 0, -1},
                            .types = {2, 6, 1}};
  EXPECT_EQ(complete_vocabulary(vocabulary, 4), 255);
  ASSERT_EQ(vocabulary.tokens.size(), 4u + 255u);
  EXPECT_EQ(vocabulary.tokens[3], "[UNUSED3]");
  EXPECT_EQ(vocabulary.tokens[4], "<0x00>");
  EXPECT_EQ(vocabulary.tokens[4 + 0x42 - 1], "<0x42>");
  EXPECT_EQ(vocabulary.tokens.back(), "<0xFF>");
  EXPECT_EQ(vocabulary.types.back(), 6);
  EXPECT_EQ(vocabulary.types.size(), vocabulary.tokens.size());
  EXPECT_EQ(vocabulary.scores.size(), vocabulary.tokens.size());
  GgufVocabulary unigrams{.model = "t5", .tokens = {"<unk>"}, .scores = {0}, .types = {2}};
  EXPECT_EQ(complete_vocabulary(unigrams, 2), 0);
  EXPECT_EQ(unigrams.tokens.size(), 2u);
}

TEST(GgufVocabulary, RefusesExpressionsWithoutAName) {
  const std::string json = R"({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [
      {"type": "Split", "pattern": {"Regex": "x+"}},
      {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}]},
      "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}})";
  expect_error(ErrorKind::model,
               "tokenizer.json: pre_tokenizer: expected one that GGUF has a name for, those of "
               "GPT-2, Llama 3 and Qwen, found another expression",
               [&] { gguf_vocabulary_of_json(json, "tokenizer.json"); });
  expect_error(ErrorKind::model, "tokenizer.json: model.type: GGUF has no form for WordPiece", [] {
    gguf_vocabulary_of_json(R"({"model": {"type": "WordPiece"}})", "tokenizer.json");
  });
}

}  // namespace
}  // namespace heed::models
