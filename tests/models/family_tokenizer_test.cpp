#include "heed/models/family_tokenizer.h"

#include <gtest/gtest.h>

#include "heed/base/random.h"
#include "heed/text/json_tokenizer.h"
#include "support/expect_error.h"
#include "support/multi30k.h"

namespace heed::models {
namespace {

using text::Subwords;
using text::Tokenizer;

std::vector<std::string> corpus() {
  std::vector<std::string> lines;
  const std::vector<std::string> words{"banana", "ananas", "Fledermaus", "h\xc3\xb6hle", "a",
                                       "the",    "---",    "....",       "aaaa",         "abab"};
  Rng rng(3);
  for (int line = 0; line < 300; ++line) {
    std::string text;
    for (int word = 0; word < 8; ++word) {
      text += (word > 0 ? " " : "") + words[rng.below(words.size())];
    }
    lines.push_back(text);
  }
  return lines;
}

// Of known and unknown characters, in any order, without names of special tokens.
std::vector<std::string> odd_texts() {
  const std::vector<std::string> parts{"a",
                                       "n",
                                       "b",
                                       "an",
                                       "ana",
                                       " ",
                                       "  ",
                                       "-",
                                       "--",
                                       ".",
                                       "...",
                                       "\t",
                                       "\n",
                                       "\xc3\xb6",
                                       "F",
                                       "\xf0\x9f\xa6\x87",
                                       "\xe8\x9d\x99",
                                       "e\xcc\x81",
                                       "\xe2\x96\x81",
                                       "<",
                                       ">",
                                       "<un",
                                       "h",
                                       "l"};
  std::vector<std::string> texts{"", " ", "   ", "a", " a", "a "};
  Rng rng(4);
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    const auto count = 1 + rng.below(20);
    for (std::uint64_t k = 0; k < count; ++k) text += parts[rng.below(parts.size())];
    texts.push_back(text);
  }
  return texts;
}

TransformerConfig form_of(const std::string& family) {
  TransformerConfig form;
  form.family = family;
  return form;
}

void expect_same_ids(const Tokenizer& tokenizer, const std::vector<std::string>& texts) {
  const auto files = family_tokenizer_files(tokenizer, form_of("llama"), "tokenizer.model");
  const auto written = text::JsonTokenizer::from_bytes(files.at("tokenizer.json"));
  EXPECT_EQ(written.size(), tokenizer.size());
  int num_different = 0, num_ties = 0;
  for (const std::string& text : texts) {
    const auto ids = written.encode(text, {.with_special = false, .fits_length = false}).ids;
    const std::vector<int> expected = tokenizer.encode(text);
    const bool may_tie = tokenizer.subwords() == Subwords::unigram;
    if (may_tie && ids != expected && std::ranges::is_permutation(ids, expected)) {
      ++num_ties;
      continue;
    }
    if (ids != expected) {
      if (num_different++ == 0) ADD_FAILURE() << name_of(tokenizer.subwords()) << ": " << text;
      continue;
    }
    const bool is_known = std::ranges::find(ids, text::own_tokens::unknown) == ids.end();
    if (is_known) {
      EXPECT_EQ(written.decode(ids), tokenizer.decode(ids)) << text;
    }
  }
  EXPECT_EQ(num_different, 0);
  EXPECT_LT(num_ties, std::ssize(texts) / 20);
}

TEST(FamilyTokenizer, TokenizerJsonGivesTheSameIdsAndTexts) {
  std::vector<std::string> texts = odd_texts();
  const std::vector<std::string> lines = corpus();
  texts.insert(texts.end(), lines.begin(), lines.end());
  for (const Subwords subwords :
       {Subwords::bpe, Subwords::unigram, Subwords::character, Subwords::byte}) {
    for (const bool is_running_text : {false, true}) {
      const auto tokenizer = Tokenizer::train(lines, {.vocabulary = 90,
                                                      .subwords = subwords,
                                                      .is_running_text = is_running_text,
                                                      .fit_vocabulary = true});
      SCOPED_TRACE(is_running_text ? "running text" : "lines");
      expect_same_ids(tokenizer, texts);
    }
  }
}

TEST(FamilyTokenizer, TokenizerJsonGivesTheSameIdsOfRealText) {
  std::vector<std::string> lines = multi30k_lines();
  if (lines.empty()) GTEST_SKIP() << "HEED_DATA has no multi30k";
  lines.resize(std::min<std::size_t>(lines.size(), 10000));
  for (const Subwords subwords : {Subwords::bpe, Subwords::unigram}) {
    expect_same_ids(Tokenizer::train(lines, {.vocabulary = 4000, .subwords = subwords}), lines);
  }
}

TEST(FamilyTokenizer, RefusesWhatTheFilesHaveNoFormFor) {
  const auto words = Tokenizer::train(corpus(), {.vocabulary = 90, .subwords = Subwords::word});
  EXPECT_NO_THROW(family_tokenizer_files(words, form_of("marian"), "t"));
  expect_error(ErrorKind::model,
               "t: subwords: tokenizer.json has no form for Heed's words; it has one for bpe, "
               "unigram, char and byte",
               [&] { family_tokenizer_files(words, form_of("gpt2"), "t"); });
  const auto bytes = Tokenizer::train(corpus(), {.subwords = Subwords::byte});
  expect_error(ErrorKind::model,
               "t: subwords: Marian has no form for bytes; it has one for bpe, unigram, char and "
               "word",
               [&] { family_tokenizer_files(bytes, form_of("marian"), "t"); });
}

}  // namespace
}  // namespace heed::models
