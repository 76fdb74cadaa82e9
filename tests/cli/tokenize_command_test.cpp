#include "heed/cli/tokenize_command.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "heed/text/tokenizer.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace heed::cli {
namespace {

constexpr char tokenizer_json[] = R"({
  "version": "1.0",
  "added_tokens": [{"id": 3, "content": "[SEP]", "special": true}],
  "pre_tokenizer": {"type": "WhitespaceSplit"},
  "post_processor": {"type": "TemplateProcessing",
    "single": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
    "pair": [],
    "special_tokens": {"[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]}}},
  "model": {"type": "WordLevel", "unk_token": "[UNK]", "vocab": {"[UNK]": 0, "the": 1, "bat": 2}}
})";

struct Folder {
  TemporaryFolder folder;
  std::string file = folder.write("tokenizer.json", tokenizer_json);

  std::string run(const std::string& input, TokenizeOptions options = {}) const {
    if (options.model.empty()) options.model = folder.path();
    std::istringstream in(input);
    std::ostringstream out;
    EXPECT_EQ(tokenize(options, in, out), 0);
    return out.str();
  }
};

TEST(TokenizeCommand, PrintsTokensOrIds) {
  const Folder folder;
  EXPECT_EQ(folder.run("the bat\ncow\n"), "the bat [SEP]\n[UNK] [SEP]\n");
  EXPECT_EQ(folder.run("the bat\n", {.ids = true}), "1 2 3\n");
  EXPECT_EQ(folder.run("the bat\n", {.ids = true, .no_special = true}), "1 2\n");
  EXPECT_EQ(folder.run("bat\n", {.model = folder.file, .ids = true}), "2 3\n");
}

TEST(TokenizeCommand, PrintsAJsonObjectForEachLine) {
  const auto line = nlohmann::json::parse(Folder().run("the bat\n", {.json = true}));
  EXPECT_EQ(line["ids"], nlohmann::json({1, 2, 3}));
  EXPECT_EQ(line["tokens"], nlohmann::json({"the", "bat", "[SEP]"}));
  EXPECT_EQ(line["offsets"].dump(), "[[0,3],[4,7],[0,0]]");
  EXPECT_EQ(line["type_ids"], nlohmann::json({0, 0, 0}));
  EXPECT_EQ(line["attention_mask"], nlohmann::json({1, 1, 1}));
}

TEST(TokenizeCommand, DecodesIds) {
  const Folder folder;
  EXPECT_EQ(folder.run("1 2 3\n\n", {.decode = true}), "the bat [SEP]\n\n");
  EXPECT_EQ(folder.run("1,2,3\n", {.decode = true, .skip_special = true}), "the bat\n");
  EXPECT_EQ(folder.run("2\n", {.json = true, .decode = true}), "{\"text\":\"bat\"}\n");
}

TEST(TokenizeCommand, TakesTheTokenizerOfHeedsOwnModels) {
  const TemporaryFolder folder;
  const std::vector<std::string> lines{"the bat hangs"};
  const auto tokenizer =
      text::Tokenizer::train(lines, {.vocabulary = 10, .subwords = text::Subwords::word});
  folder.write("tokenizer.model", tokenizer.bytes());
  const Folder any;
  const TokenizeOptions options{.model = folder.path()};
  EXPECT_EQ(any.run("the bat\n", options),
            "\u2581the \u2581"
            "bat\n");
  TokenizeOptions json = options;
  json.json = true;
  EXPECT_FALSE(nlohmann::json::parse(any.run("the bat\n", json)).contains("offsets"));
  TokenizeOptions ids = options, decode = options;
  ids.ids = true;
  decode.decode = true;
  EXPECT_EQ(any.run(any.run("the bat\n", ids), decode), "the bat\n");
}

TEST(TokenizeCommand, NamesWhatItCannotRead) {
  const Folder folder;
  const TemporaryFolder empty;
  expect_error(ErrorKind::model,
               empty.path() +
                   ": expected a model folder with one of tokenizer.model, source.spm, "
                   "tokenizer.json, spiece.model, merges.txt, vocab.txt, found none",
               [&] { folder.run("", {.model = empty.path()}); });
  expect_error(ErrorKind::data, "line 2: expected ids, found bat",
               [&] { folder.run("1\nbat\n", {.decode = true}); });
  expect_error(ErrorKind::data, "line 1: expected ids from 0 to 3, found 4",
               [&] { folder.run("4\n", {.decode = true}); });
}

}  // namespace
}  // namespace heed::cli
