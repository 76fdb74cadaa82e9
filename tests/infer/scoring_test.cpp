#include "heed/infer/scoring.h"

#include <gtest/gtest.h>

#include "heed/infer/translator.h"
#include "heed/ops/softmax.h"
#include "infer/memorised_generator.h"
#include "infer/memorised_translator.h"
#include "models/overflowing_model.h"
#include "support/expect_error.h"
#include "support/same_bits.h"

namespace heed::infer {
namespace {

using Lines = std::vector<std::string>;

LineScorer line_scorer() { return {rhyme_model().model, rhyme_model().tokenizer}; }
PairScorer pair_scorer() { return {word_by_word_model().model, word_by_word_model().tokenizer}; }

void expect_same(const ScoredLine& a, const ScoredLine& b) {
  ASSERT_EQ(a.tokens.size(), b.tokens.size());
  for (std::size_t i = 0; i < a.tokens.size(); ++i) {
    EXPECT_EQ(a.tokens[i].token, b.tokens[i].token);
    EXPECT_EQ(a.tokens[i].log_probability, b.tokens[i].log_probability);
  }
  EXPECT_EQ(a.is_truncated, b.is_truncated);
}

TEST(LineScorer, ScoresALineBetweenTwoLineEnds) {
  const auto& [model, tokenizer, generation] = rhyme_model();
  const std::string line = "the cat sat in";
  std::vector<int> ids = tokenizer.encode("\n" + line + "\n");
  auto context = nn::ForwardContext::inference();
  const NoGrad no_grad;
  const Tensor all =
      ops::log_softmax(model.logits(model.hidden({ids, Spans::single(std::ssize(ids))}, context)));
  const ScoredLine found = line_scorer().score(Lines{line})[0];
  ASSERT_EQ(found.tokens.size(), ids.size() - 1);
  double sum = 0;
  for (std::size_t t = 0; t + 1 < ids.size(); ++t) {
    const float expected = all.values()[t * all.dim(-1) + ids[t + 1]];
    EXPECT_EQ(found.tokens[t].token, ids[t + 1]);
    EXPECT_EQ(found.tokens[t].log_probability, expected);
    sum += expected;
  }
  EXPECT_EQ(found.log_probability(), sum);
  expect_same(line_scorer().score(line), found);
}

TEST(LineScorer, FindsWhatItKnowsLikelierThanWhatItDoesNot) {
  const auto found = line_scorer().score(Lines{"the cat sat on a mat", "the mat sat on a cat"});
  EXPECT_GT(found[0].log_probability(), found[1].log_probability() + 5);
}

TEST(LineScorer, ALineDoesNotDependOnItsNeighboursToTheBit) {
  const Lines lines{"the bat", "", "cave in a cave", "a", "the cat sat on a mat"};
  const auto together = line_scorer().score(lines);
  EXPECT_EQ(together[1].tokens.size(), 1u);  // the end of a blank line
  for (const Index batch_tokens : {1, 12, 1000}) {
    const auto others = line_scorer().score(lines, {.batch_tokens = batch_tokens});
    for (std::size_t i = 0; i < lines.size(); ++i) expect_same(others[i], together[i]);
  }
  const LineScorer packed(models::pack(rhyme_model().model), rhyme_model().tokenizer);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    expect_same(packed.score(Lines{lines[i]})[0], together[i]);
  }
}

TEST(LineScorer, RefusesALineBeyondTheContextByItsNumberOrCutsIt) {
  const Lines lines{"the bat", "the bat sat in a cave th", "the bat sat in a cave t"};  // 24, 23
  expect_error(ErrorKind::data,
               "line 8: expected a line end and a text of at most 24 tokens, found 25 "
               "(`truncate` cuts the end)",
               [&] { line_scorer().score(lines, {.first_line = 7}); });
  const auto cut = line_scorer().score(lines, {.truncate = true});
  EXPECT_FALSE(cut[0].is_truncated);
  EXPECT_TRUE(cut[1].is_truncated);
  EXPECT_FALSE(cut[2].is_truncated);
  ASSERT_EQ(cut[1].tokens.size(), 24u);
  ASSERT_EQ(cut[2].tokens.size(), 24u);
  for (std::size_t t = 0; t < 23; ++t) {
    EXPECT_EQ(cut[1].tokens[t].log_probability, cut[2].tokens[t].log_probability);
  }
  EXPECT_NE(cut[1].tokens[23].token, cut[2].tokens[23].token);  // a letter, and the line's end
}

TEST(PairScorer, GivesATranslationTheScoreThatTheSearchGaveIt) {
  const models::TranslationModelFolder& folder = word_by_word_model();
  const Lines sources{"two three", "four", "one one two"};
  const Translator translator(folder.model, folder.tokenizer);
  const auto translations = translator.translate(sources);
  Lines targets;
  for (const Translation& translation : translations) targets.push_back(translation.text());
  const auto found = pair_scorer().score(sources, targets);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    EXPECT_EQ(found[i].log_probability(), translations[i].best[0].score);
    expect_same(found[i], {translations[i].best[0].tokens, false});
  }
}

TEST(PairScorer, APairDoesNotDependOnItsNeighboursToTheBit) {
  const Lines sources{"two three", "", "one one two"}, targets{"zwei", "eins", ""};
  const auto together = pair_scorer().score(sources, targets);
  EXPECT_EQ(together[2].tokens.size(), 1u);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    expect_same(pair_scorer().score(Lines{sources[i]}, Lines{targets[i]})[0], together[i]);
  }
}

TEST(PairScorer, RefusesLinesBeyondTheLearnedPositionsOrCutsThem) {
  models::TransformerConfig config = word_by_word_model().model.config();
  config.positions = models::Positions::learned;
  config.max_positions = 3;
  const PairScorer scorer(models::TranslationModel(config, 1), word_by_word_model().tokenizer);
  const Lines two{"one two"}, three{"one two three"};
  EXPECT_NO_THROW(scorer.score(two, two));
  expect_error(ErrorKind::data,
               "line 1: expected a source of at most 2 tokens, found 3 (`truncate` cuts the "
               "end)",
               [&] { scorer.score(three, two); });
  expect_error(ErrorKind::data,
               "line 1: expected a start and a target of at most 3 tokens, found 4 (`truncate` "
               "cuts the end)",
               [&] { scorer.score(two, three); });
  const ScoredLine cut_source = scorer.score(three, two, {.truncate = true})[0];
  EXPECT_TRUE(cut_source.is_truncated);
  EXPECT_EQ(cut_source.log_probability(), scorer.score(two, two)[0].log_probability());
  EXPECT_EQ(scorer.score(two, three, {.truncate = true})[0].tokens.size(), 3u);
  EXPECT_THROW(scorer.score(two, Lines{}), Error);
}

TEST(Scoring, RefusesAModelWithoutFiniteLogits) {
  const auto& language = rhyme_model();
  const LineScorer lines(models::overflowing(models::LanguageModel(language.model.config(), 1)),
                         language.tokenizer);
  const auto& translation = word_by_word_model();
  const PairScorer pairs(
      models::overflowing(models::TranslationModel(translation.model.config(), 1)),
      translation.tokenizer);
  const std::string message =
      "model: expected finite logits, found NaN or infinity (weights are damaged, or too large for "
      "this input)";
  expect_error(ErrorKind::model, message, [&] { lines.score("the cat"); });
  expect_error(ErrorKind::model, message, [&] { pairs.score("two", "zwei"); });
}

}  // namespace
}  // namespace heed::infer
