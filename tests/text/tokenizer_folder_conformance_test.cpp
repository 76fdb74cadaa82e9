// Tokenizers of model folders against the reference's ids: hf/tokenizers, hf/models and stories260k
// in the folder named by HEED_DATA. Their README says what is in the files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "heed/io/compressed_file.h"
#include "heed/text/encode_lines.h"
#include "heed/text/text_stream.h"
#include "heed/text/tokenizer.h"
#include "support/temporary_folder.h"

namespace heed::text {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

fs::path data_folder() {
  const char* data = std::getenv("HEED_DATA");
  return data == nullptr ? "/no" : data;
}

std::string read_whole(const fs::path& path) {
  io::CompressedFile file(path, "a file");
  std::string bytes;
  std::vector<char> chunk(1 << 16);
  while (const std::size_t size = file.read(chunk)) bytes.append(chunk.data(), size);
  return bytes;
}

struct Reference {
  explicit Reference(const std::string& name) : folder(data_folder() / "hf" / "tokenizers" / name) {
    if (!is_there()) return;
    const fs::path plain = folder / "tokenizer.json", packed = folder / "tokenizer.json.gz";
    file = json::parse(read_whole(fs::exists(plain) ? plain : packed));
    std::ifstream lines(folder / "cases.jsonl");
    for (std::string line; std::getline(lines, line);) cases.push_back(json::parse(line));
  }
  bool is_there() const { return fs::exists(folder / "cases.jsonl"); }

  fs::path folder;
  json file;
  std::vector<json> cases;
};

std::vector<int> encode(const Tokenizer& tokenizer, const json& c) {
  const std::string text = c.at("text");
  const std::vector<int> ids = tokenizer.encode(text);
  if (!c.contains("pair") || c.at("pair").is_null()) return tokenizer.sequence().single(ids);
  return tokenizer.sequence().pair(ids, tokenizer.encode(c.at("pair").get<std::string>()));
}

bool is_valid(const std::string& text) { return text.find("\xef\xbf\xbd") == text.npos; }

void expect_cases(const Tokenizer& tokenizer, const Reference& reference) {
  ASSERT_FALSE(reference.cases.empty());
  for (const json& c : reference.cases) {
    SCOPED_TRACE(c.dump().substr(0, 300));
    const auto ids = c.at("ids").get<std::vector<int>>();
    EXPECT_EQ(encode(tokenizer, c), ids);
    EXPECT_EQ(tokenizer.decode(ids, {.skip_special = true}),
              c.at("decoded_skip_special").get<std::string>());
    // A text may hold a separator; what follows it counts as the second text.
    const bool has_more_ends = std::ranges::count(ids, tokenizer.tokens().end()) > 2;
    if (c.contains("type_ids") && tokenizer.sequence().has_types() && !has_more_ends) {
      EXPECT_EQ(json(tokenizer.sequence().types(ids)), c.at("type_ids"));
    }
    TextStream stream(tokenizer);
    std::string streamed;
    for (const int id : ids) streamed += stream.add(id);
    streamed += stream.finish();
    const std::string whole = tokenizer.decode(ids);
    // Where a mark follows a word, its space is not known before the next token.
    const bool can_stream =
        reference.file.at("decoder").dump().find("BPEDecoder") == std::string::npos;
    if (can_stream && is_valid(whole)) {
      EXPECT_EQ(streamed, whole);
    }
  }
}

std::string lines_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text.append(line).append("\n");
  return text;
}

// The same merges in either form that a tokenizer.json may have.
std::string merge_line(const json& merge) {
  if (merge.is_string()) return merge;
  return merge[0].get<std::string>() + ' ' + merge[1].get<std::string>();
}

void write_byte_bpe(const TemporaryFolder& folder, const json& file) {
  std::vector<std::string> merges{"#version: 0.2"};
  for (const json& merge : file.at("model").at("merges")) merges.push_back(merge_line(merge));
  folder.write("vocab.json", file.at("model").at("vocab").dump());
  folder.write("merges.txt", lines_of(merges));
}

class TokenizerJsonFolder : public testing::TestWithParam<const char*> {};

TEST_P(TokenizerJsonFolder, GivesTheIdsAndTextsOfTheReference) {
  const Reference reference(GetParam());
  if (!reference.is_there()) GTEST_SKIP() << "HEED_DATA names no folder with it";
  const TemporaryFolder folder;
  folder.write("tokenizer.json", reference.file.dump());
  expect_cases(Tokenizer::load_folder(folder.path()), reference);
}

// Those whose cases are neither cut nor padded.
INSTANTIATE_TEST_SUITE_P(Folders, TokenizerJsonFolder,
                         testing::Values("bert_base_uncased", "clip", "gpt2", "phi3", "qwen3",
                                         "roberta_base", "t5_small", "tiny_bpe_endofword",
                                         "tiny_bytelevel_added_tokens",
                                         "tiny_spbpe_prepend_bytefallback", "tiny_spbpe_unk_fused",
                                         "tiny_unigram_metaspace", "tiny_wordpiece_uncased"),
                         [](const auto& info) { return std::string(info.param); });

TEST(VocabularyTextFolder, GivesTheIdsOfBert) {
  const Reference reference("bert_base_uncased");
  if (!reference.is_there()) GTEST_SKIP() << "HEED_DATA names no folder with it";
  const json& vocabulary = reference.file.at("model").at("vocab");
  std::vector<std::string> lines(vocabulary.size());
  for (const auto& [piece, id] : vocabulary.items()) lines.at(id.get<std::size_t>()) = piece;
  const TemporaryFolder folder;
  folder.write("vocab.txt", lines_of(lines));
  folder.write("config.json", R"({"model_type": "bert", "pad_token_id": 0})");
  folder.write("tokenizer_config.json", R"({"do_lower_case": true})");
  const Tokenizer tokenizer = Tokenizer::load_folder(folder.path());
  expect_cases(tokenizer, reference);
  EXPECT_EQ(tokenizer.mask(), 103);
}

TEST(MergesFolder, GivesTheIdsOfGpt2) {
  const Reference reference("gpt2");
  if (!reference.is_there()) GTEST_SKIP() << "HEED_DATA names no folder with it";
  const TemporaryFolder folder;
  write_byte_bpe(folder, reference.file);
  folder.write("config.json",
               R"({"model_type": "gpt2", "bos_token_id": 50256, "eos_token_id": 50256})");
  const Tokenizer tokenizer = Tokenizer::load_folder(folder.path());
  expect_cases(tokenizer, reference);
  EXPECT_EQ(tokenizer.tokens().ends, (std::vector<int>{50256}));
}

TEST(MergesFolder, GivesTheIdsOfRoberta) {
  const Reference reference("roberta_base");
  if (!reference.is_there()) GTEST_SKIP() << "HEED_DATA names no folder with it";
  const TemporaryFolder folder;
  write_byte_bpe(folder, reference.file);
  folder.write("config.json", R"({"model_type": "roberta", "pad_token_id": 1})");
  const Tokenizer tokenizer = Tokenizer::load_folder(folder.path());
  expect_cases(tokenizer, reference);
  EXPECT_EQ(tokenizer.mask(), 50264);
  EXPECT_EQ(tokenizer.tokens().begin, 0);
}

// The ids that the reference's model was given for the texts.
void expect_text_cases(const Tokenizer& tokenizer, const json& expected) {
  for (const json& c : expected.at("text_cases")) {
    for (std::size_t i = 0; i < c.at("texts").size(); ++i) {
      std::vector<int> ids =
          tokenizer.sequence().single(tokenizer.encode(c.at("texts").at(i).get<std::string>()));
      tokenizer.sequence().truncate(ids, c.at("input_ids").at(i).size());
      ids.resize(c.at("input_ids").at(i).size(), tokenizer.tokens().pad);
      EXPECT_EQ(json(ids), c.at("input_ids").at(i)) << c.at("texts").at(i);
    }
  }
}

TEST(ModelFolders, GiveTheIdsOfTheirTextCases) {
  int count = 0;
  const fs::path models = data_folder() / "hf" / "models";
  if (!fs::exists(models)) GTEST_SKIP() << "HEED_DATA names no folder with it";
  for (const auto& entry : fs::directory_iterator(models)) {
    if (!Tokenizer::is_in(entry.path())) continue;
    SCOPED_TRACE(entry.path());
    const Tokenizer tokenizer = Tokenizer::load_folder(entry.path());
    EXPECT_GT(tokenizer.size(), 0);
    const json expected = json::parse(std::ifstream(entry.path() / "expected.json"));
    if (!expected.contains("text_cases")) continue;
    expect_text_cases(tokenizer, expected);
    ++count;
    // The same from vocab.txt alone.
    if (!fs::exists(entry.path() / "vocab.txt")) continue;
    const TemporaryFolder folder;
    for (const char* name : {"vocab.txt", "config.json", "tokenizer_config.json"}) {
      fs::copy_file(entry.path() / name, folder.file(name));
    }
    expect_text_cases(Tokenizer::load_folder(folder.path()), expected);
  }
  EXPECT_GT(count, 0);
}

TEST(ModelFolders, TheSentencePieceModelOfALlamaGivesItsTextsBack) {
  const fs::path folder = data_folder() / "stories260k";
  if (!fs::exists(folder)) GTEST_SKIP() << "HEED_DATA names no folder with it";
  const Tokenizer tokenizer = Tokenizer::load_folder(folder);
  EXPECT_EQ(tokenizer.size(), 512);
  EXPECT_EQ(tokenizer.tokens().begin, 1);
  EXPECT_EQ(tokenizer.tokens().ends, (std::vector<int>{2}));
  EXPECT_EQ(tokenizer.sequence().prefix, (std::vector<int>{1}));
  EXPECT_TRUE(tokenizer.sequence().suffix.empty());
  for (const std::string text : {"Once upon a time", "The caf\u00e9 is open.\nYes!"}) {
    EXPECT_EQ(tokenizer.decode(tokenizer.sequence().single(tokenizer.encode(text))), text);
  }
}

}  // namespace
}  // namespace heed::text
