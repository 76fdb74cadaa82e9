#include "heed/train/word_links.h"

#include <gtest/gtest.h>

#include <fstream>

#include "heed/base/error.h"
#include "heed/train/translation_task.h"
#include "support/temporary_folder.h"

namespace heed::train {
namespace {

WordLinks read(const std::string& text, std::size_t num_lines) {
  const TemporaryFolder folder;
  std::ofstream(folder.file("links")) << text;
  return read_word_links(folder.file("links"), num_lines);
}

std::string refusal(const std::string& text, std::size_t num_lines) {
  try {
    read(text, num_lines);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data);
    const std::string message = error.what();
    return message.substr(message.find("links") + 5);
  }
  ADD_FAILURE() << "no error";
  return "";
}

TEST(WordLinks, AreReadInThePharaohFormat) {
  const WordLinks links = read("0-0 1-12\n\n3-2\n", 3);
  ASSERT_EQ(links.size(), 3u);
  EXPECT_EQ(links[0], (std::vector<metrics::AlignedWords>{{0, 0}, {1, 12}}));
  EXPECT_TRUE(links[1].empty());
  EXPECT_EQ(links[2], (std::vector<metrics::AlignedWords>{{3, 2}}));
}

TEST(WordLinks, OfAnotherFormatAreRefused) {
  EXPECT_EQ(refusal("0-0\n0:1\n", 2), ": line 2: expected links like 0-1, found 0:1");
  EXPECT_EQ(refusal("0--1\n", 1), ": line 1: expected links like 0-1, found 0--1");
  EXPECT_EQ(refusal("1-\n", 1), ": line 1: expected links like 0-1, found 1-");
  EXPECT_EQ(refusal("0-0\n", 2), ": expected 2 lines, as many as the source has, found 1");
}

TEST(WordLinks, JoinAllTokensOfWordsThatBelongTogether) {
  const std::vector<std::string> source{"ab c", "c ab"}, target{"xy z", "z"};
  std::vector<std::string> all = source;
  all.insert(all.end(), target.begin(), target.end());
  const auto tokenizer =
      text::Tokenizer::train(all, {.vocabulary = 40, .subwords = text::Subwords::character});
  const auto corpus = data::TranslationCorpus::tokenize(source, target, tokenizer);
  const std::vector<Index> pairs{1, 0};
  const auto batch = make_batch(corpus, pairs);
  // Tokens: "▁c▁ab." "▁ab▁c." of the source, "▁z." "▁xy▁z." of the target; lines in that order.
  const WordLinks links{{{0, 0}, {1, 1}, {7, 0}, {0, 9}}, {{1, 0}}};
  const auto found = token_links(links, pairs, batch, tokenizer);
  const std::vector<ops::AttentionLink> expected{
      {0, 2}, {0, 3},  {0, 4}, {1, 2}, {1, 3}, {1, 4},                          // z - ab
      {3, 6}, {3, 7},  {3, 8}, {4, 6}, {4, 7}, {4, 8}, {5, 6}, {5, 7}, {5, 8},  // xy - ab
      {6, 9}, {6, 10}, {7, 9}, {7, 10}};                                        // z - c
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace heed::train
