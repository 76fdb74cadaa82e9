#include "heed/text/bpe_dropout.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "heed/base/error.h"
#include "heed/text/message_reader.h"
#include "support/multi30k.h"
#include "text/lower_case_tokenizer.h"

namespace heed::text {
namespace {

using Lines = std::vector<std::string>;

Lines sample_lines() {
  Lines lines;
  for (const char* who : {"a man", "two young girls", "the old dog", "der schläger", "eine frau"}) {
    for (const char* what : {"is running", "stand talking", "springt", "läuft\tweit", "plays"}) {
      for (const char* where : {"on the beach .", "in front of a store .", "über die straße ."}) {
        lines.push_back(std::string(who) + " " + what + " " + where);
      }
    }
  }
  return lines;
}

Tokenizer sample_tokenizer() { return Tokenizer::train(sample_lines(), {.vocabulary = 120}); }

Lines odd_lines() {
  return {"",
          " ",
          "   ",
          "a",
          "  two  leading and  trailing  ",
          "tab\there\t\t and\t",
          "猫",
          "a 猫犬 man 猫 犬",
          "the 👩‍👩‍👧 dog 🐕🐕 läuft",
          "▁the▁old▁dog▁",
          "<s> the </s> <pad> <unk>",
          "zero\u200bwidth ﬁ ½ Å \u00a0",
          std::string("nul\0nul", 7),
          "\u2585 the \u2585\u2585",
          std::string(300, 'a'),
          "dogdogdog thethethe straßestraße"};
}

double mean_pieces(const Tokenizer& tokenizer, const Lines& lines, double rate) {
  const BpeDropout dropout(tokenizer, rate);
  std::size_t pieces = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) pieces += dropout.encode(lines[i], i).size();
  return static_cast<double>(pieces) / static_cast<double>(lines.size());
}

TEST(BpeDropout, WithoutDropoutItIsTheTokenizerItself) {
  const Tokenizer tokenizer = sample_tokenizer();
  const BpeDropout dropout(tokenizer, 0);
  for (const Lines& lines : {sample_lines(), odd_lines()}) {
    for (const std::string& line : lines) {
      EXPECT_EQ(dropout.encode(line, 7), tokenizer.encode(line)) << line;
    }
  }
}

TEST(BpeDropout, GivesTheTextBack) {
  const Tokenizer tokenizer = sample_tokenizer();
  for (const double rate : {0.1, 0.5, 0.9}) {
    const BpeDropout dropout(tokenizer, rate);
    std::uint64_t key = 0;
    for (const std::string& line : sample_lines()) {
      ASSERT_EQ(tokenizer.decode(dropout.encode(line, ++key)), line);
    }
    for (const std::string& line : odd_lines()) {
      ASSERT_EQ(tokenizer.decode(dropout.encode(line, ++key)),
                tokenizer.decode(tokenizer.encode(line)));
    }
  }
}

TEST(BpeDropout, MoreOfItGivesMorePieces) {
  const Tokenizer tokenizer = sample_tokenizer();
  double before = 0;
  for (const double rate : {0.0, 0.1, 0.3, 0.6, 0.9}) {
    const double mean = mean_pieces(tokenizer, sample_lines(), rate);
    EXPECT_GT(mean, before) << rate;
    before = mean;
  }
}

TEST(BpeDropout, NearlyAllOfItLeavesCharacters) {
  const BpeDropout dropout(sample_tokenizer(), 0.999999);
  EXPECT_EQ(dropout.encode("der schläger", 1).size(), 1 + std::string("der schlager").size());
}

TEST(BpeDropout, SkipsAsManyMergesAsItIsAskedTo) {
  const Lines lines = {"ab", "ab", "ab", "cd"};  // one merge makes "ab", and none is left then
  const Tokenizer tokenizer = Tokenizer::train(lines, {.vocabulary = 10});
  const auto whole = tokenizer.encode("xab");
  ASSERT_LT(whole.size(), 4u);
  const BpeDropout dropout(tokenizer, 0.3);
  int skipped = 0;
  for (std::uint64_t key = 0; key < 10000; ++key) {
    skipped += dropout.encode("xab", key).size() > whole.size();
  }
  EXPECT_NEAR(skipped, 3000, 150);  // three standard deviations and a bit
}

TEST(BpeDropout, IsAFunctionOfTheKey) {
  const Tokenizer tokenizer = sample_tokenizer();
  const BpeDropout dropout(tokenizer, 0.2), again(tokenizer, 0.2);
  std::set<std::vector<int>> ways;
  for (std::uint64_t key = 0; key < 20; ++key) {
    ways.insert(dropout.encode("two young girls", key));
    EXPECT_EQ(dropout.encode("two young girls", key), again.encode("two young girls", key));
  }
  EXPECT_GT(ways.size(), 5u);
}

// The same model with the score of each piece before its name: the order of fields is free.
std::string with_scores_first(const std::string& model) {
  std::string other;
  for (MessageReader outer(model); outer.next();) {
    std::string name, score, type;
    MessageReader inner(outer.content);
    while (outer.field == 1 && inner.next()) {
      if (inner.field == 1) name = message_field(1, std::string(inner.content));
      if (inner.field == 2) score = '\x15' + std::string(inner.content);
      if (inner.field == 3) type = {'\x18', static_cast<char>(inner.number)};
    }
    const bool is_piece = outer.field == 1;
    other += message_field(static_cast<int>(outer.field),
                           is_piece ? score + name + type : std::string(outer.content));
  }
  return other;
}

TEST(BpeDropout, ReadsTheFieldsOfAPieceInAnyOrder) {
  Lines lines(60, "ab");
  lines.insert(lines.end(), 40, "cde");
  lines.insert(lines.end(), 10, "abcd");
  const auto trained = Tokenizer::train(lines, {.vocabulary = 14, .is_running_text = true});
  const Tokenizer tokenizer = Tokenizer::from_bytes(with_scores_first(trained.bytes()));
  const auto ids = tokenizer.encode("abcde");
  ASSERT_EQ(ids.size(), 2u);
  EXPECT_EQ(tokenizer.piece(ids[1]), "cde");  // its score is above that of "abcd"
  EXPECT_EQ(BpeDropout(tokenizer, 0).encode("abcde", 7), ids);
}

// The same model with one more number in the rules of its normalizer.
std::string with_normalizer_rule(const std::string& model, int field, char value) {
  std::string other;
  for (MessageReader reader(model); reader.next();) {
    std::string content(reader.content);
    if (reader.field == 3) content += {static_cast<char>(field << 3), value};
    other += message_field(static_cast<int>(reader.field), content);
  }
  return other;
}

TEST(BpeDropout, RefusesATokenizerThatChangesTheText) {
  const std::string model = sample_tokenizer().bytes();
  EXPECT_NO_THROW(BpeDropout(Tokenizer::from_bytes(with_normalizer_rule(model, 4, 0)), 0.1));
  EXPECT_NO_THROW(BpeDropout(Tokenizer::from_bytes(with_normalizer_rule(model, 5, 1)), 0.1));
  const auto expect_refused = [&](int field, char value) {
    const auto tokenizer = Tokenizer::from_bytes(with_normalizer_rule(model, field, value));
    EXPECT_THROW(BpeDropout(tokenizer, 0.1), Error) << field;
  };
  expect_refused(4, 1);  // spaces are removed
  expect_refused(5, 0);  // spaces are not made visible
}

// SentencePiece merges the parts of a message.
TEST(BpeDropout, RefusesATokenizerThatChangesTheTextInALaterPart) {
  const std::string model = sample_tokenizer().bytes();
  const std::string removes_spaces{4 << 3, 1};
  const auto tokenizer = Tokenizer::from_bytes(model + message_field(3, removes_spaces));
  EXPECT_THROW(BpeDropout(tokenizer, 0.1), Error);
}

TEST(BpeDropout, RefusesOtherPiecesAndOtherRates) {
  const Lines lines = sample_lines();
  for (const Subwords subwords : {Subwords::unigram, Subwords::word, Subwords::character}) {
    const auto tokenizer = Tokenizer::train(lines, {.vocabulary = 50, .subwords = subwords});
    EXPECT_THROW(BpeDropout(tokenizer, 0.1), Error) << name_of(subwords);
  }
  for (const double rate : {-0.1, 1.0, std::nan("")}) {
    EXPECT_THROW(BpeDropout(sample_tokenizer(), rate), Error) << rate;
  }
}

TEST(BpeDropout, AgreesWithTheTokenizerOnMulti30k) {
  const std::vector<std::string> lines = multi30k_lines();
  if (lines.empty()) GTEST_SKIP() << "HEED_DATA names no folder with multi30k";

  const auto tokenizer = Tokenizer::train(lines, {.vocabulary = 10000});
  const BpeDropout none(tokenizer, 0), some(tokenizer, 0.1);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    ASSERT_EQ(none.encode(lines[i], i), tokenizer.encode(lines[i])) << lines[i];
    ASSERT_EQ(tokenizer.decode(some.encode(lines[i], i)), lines[i]);
  }
}

}  // namespace
}  // namespace heed::text
