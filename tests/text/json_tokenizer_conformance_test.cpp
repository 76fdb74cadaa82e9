// Conformance with Hugging Face's tokenizers: every folder of hf/tokenizers in the folder named by
// HEED_DATA. Its README says what is in the files.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "heed/io/compressed_file.h"
#include "heed/text/code_points.h"
#include "heed/text/json_tokenizer.h"
#include "heed/text/normalizers.h"
#include "heed/text/pre_tokenizers.h"
#include "heed/text/token_decoders.h"

namespace heed::text {
namespace {

using nlohmann::json;

std::filesystem::path data_folder() {
  const char* data = std::getenv("HEED_DATA");
  return std::filesystem::path(data == nullptr ? "" : data) / "hf" / "tokenizers";
}

constexpr char nothing[] = "";  // stands for "no folders": the one test is skipped

std::vector<std::string> tokenizer_folders() {
  std::vector<std::string> folders;
  if (std::getenv("HEED_DATA") != nullptr && std::filesystem::is_directory(data_folder())) {
    for (const auto& entry : std::filesystem::directory_iterator(data_folder())) {
      if (std::filesystem::exists(entry.path() / "cases.jsonl")) folders.push_back(entry.path());
    }
  }
  std::ranges::sort(folders);
  if (folders.empty()) folders.push_back(nothing);
  return folders;
}

std::string read_whole(const std::string& path) {
  io::CompressedFile file(path, "a file");
  std::string bytes;
  std::vector<char> chunk(1 << 16);
  while (const std::size_t size = file.read(chunk)) bytes.append(chunk.data(), size);
  return bytes;
}

JsonTokenizer load(const std::filesystem::path& folder) {
  const auto plain = folder / "tokenizer.json", packed = folder / "tokenizer.json.gz";
  return JsonTokenizer::from_bytes(read_whole(std::filesystem::exists(plain) ? plain : packed));
}

json offsets_of(const Encoding& encoding) {
  json offsets = json::array();
  for (const Offsets& each : encoding.offsets) offsets.push_back({each.begin, each.end});
  return offsets;
}

Encoding encode(const JsonTokenizer& tokenizer, const json& c, bool with_special) {
  const EncodeOptions options{.with_special = with_special};
  const auto text = c["text"].get<std::string>();
  return c.contains("pair") && !c["pair"].is_null()
             ? tokenizer.encode_pair(text, c["pair"].get<std::string>(), options)
             : tokenizer.encode(text, options);
}

void expect_case(const JsonTokenizer& tokenizer, const json& c) {
  const Encoding encoding = encode(tokenizer, c, true);
  const auto ids = c["ids"].get<std::vector<int>>();
  EXPECT_EQ(encoding.ids, ids);
  EXPECT_EQ(json(encoding.tokens), c["tokens"]);
  EXPECT_EQ(offsets_of(encoding), c["offsets"]);
  if (c.contains("type_ids")) {
    EXPECT_EQ(json(encoding.type_ids), c["type_ids"]);
  }
  const json ones(std::vector<int>(ids.size(), 1));
  EXPECT_EQ(json(encoding.attention_mask), c.value("attention_mask", ones));
  EXPECT_EQ(json(encode(tokenizer, c, false).ids), c.value("ids_no_special", c["ids"]));
  EXPECT_EQ(tokenizer.decode(ids), c["decoded"].get<std::string>());
  EXPECT_EQ(tokenizer.decode(ids, {.skip_special = true}),
            c["decoded_skip_special"].get<std::string>());
}

template <typename Expect>
void for_each_line(const std::filesystem::path& path, Expect&& expect) {
  std::ifstream lines(path);
  int count = 0;
  for (std::string line; std::getline(lines, line);) {
    SCOPED_TRACE(path.string() + ':' + std::to_string(++count) + ' ' + line.substr(0, 300));
    ASSERT_NO_THROW(expect(json::parse(line)));
  }
  EXPECT_GT(count, 0) << path;
}

class HuggingFaceTokenizer : public testing::TestWithParam<std::string> {};

TEST_P(HuggingFaceTokenizer, GivesTheSameTokensOffsetsAndTexts) {
  if (GetParam() == nothing) GTEST_SKIP() << "HEED_DATA names no folder with hf/tokenizers";
  const JsonTokenizer tokenizer = load(GetParam());
  for_each_line(std::filesystem::path(GetParam()) / "cases.jsonl",
                [&](const json& c) { expect_case(tokenizer, c); });
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  return info.param == nothing ? "Nothing" : std::filesystem::path(info.param).filename().string();
}

INSTANTIATE_TEST_SUITE_P(Folders, HuggingFaceTokenizer, testing::ValuesIn(tokenizer_folders()),
                         test_name);

io::JsonFields settings(const json& c, const char* name) {
  return io::JsonFields::of(c[name], name);
}

std::filesystem::path components() { return data_folder() / "components"; }

TEST(HuggingFaceComponents, NormalizersGiveTheSameTexts) {
  if (!std::filesystem::exists(components())) GTEST_SKIP() << "HEED_DATA names no such folder";
  for_each_line(components() / "normalizers.jsonl", [](const json& c) {
    AlignedText text = align(c["text"].get<std::string>());
    read_normalizer(settings(c, "normalizer"))(text);
    EXPECT_EQ(text.bytes, c["output"].get<std::string>());
    EXPECT_EQ(text.bytes.size(), text.sources.size());
  });
}

TEST(HuggingFaceComponents, PreTokenizersGiveTheSamePieces) {
  if (!std::filesystem::exists(components())) GTEST_SKIP() << "HEED_DATA names no such folder";
  for_each_line(components() / "pre_tokenizers.jsonl", [](const json& c) {
    const auto original = c["text"].get<std::string>();
    TextPieces pieces;
    pieces.append(align(original), {0, original.size()});
    read_pre_tokenizer(settings(c, "pre_tokenizer"))(pieces);
    json found = json::array();
    for (const TextPiece& piece : pieces.pieces()) {
      const auto characters_before = [&](std::size_t size) {
        return count_code_points(std::string_view(original).substr(0, size));
      };
      const auto& sources = pieces.text().sources;
      found.push_back({std::string(pieces.bytes(piece)),
                       {characters_before(sources[piece.range.begin].begin),
                        characters_before(sources[piece.range.end - 1].end)}});
    }
    EXPECT_EQ(found, c["pieces"]);
  });
}

TEST(HuggingFaceComponents, DecodersGiveTheSameTexts) {
  if (!std::filesystem::exists(components())) GTEST_SKIP() << "HEED_DATA names no such folder";
  for_each_line(components() / "decoders.jsonl", [](const json& c) {
    auto tokens = c["tokens"].get<std::vector<std::string>>();
    read_token_decoder(settings(c, "decoder"))(tokens);
    std::string text;
    for (const std::string& token : tokens) text += token;
    EXPECT_EQ(text, c["text"].get<std::string>());
  });
}

}  // namespace
}  // namespace heed::text
