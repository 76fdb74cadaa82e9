#include "heed/explore/next_tokens.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "explore/toy_sessions.h"
#include "heed/base/error.h"
#include "heed/explore/answer.h"
#include "heed/infer/top_tokens.h"
#include "support/sample.h"

namespace heed::explore {
namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

TEST(NextTokens, AreWhatSamplingKeepsWithTheChancesThatItDraws) {
  const std::vector<float> logits{0.5f, 2.0f, -1.0f, 2.0f, minus_infinity, 1.0f, 0.0f};
  const std::vector<infer::SamplingOptions> all{
      {},
      {.temperature = 0},
      {.temperature = 0.5},
      {.temperature = 2, .top_k = 3},
      {.top_p = 0.8},
      {.min_p = 0.3},
      {.temperature = 1.5, .top_k = 4, .top_p = 0.9, .min_p = 0.1}};
  for (const infer::SamplingOptions& options : all) {
    std::map<int, double> drawn;
    for (const auto& one : infer::candidates(logits, options)) {
      drawn[one.token] = one.probability;
    }
    const std::vector<NextToken> found = next_tokens(logits, options, 7);
    ASSERT_EQ(found.size(), 6u);  // one cannot come
    double chances = 0;
    for (const NextToken& next : found) {
      EXPECT_EQ(next.is_kept, drawn.contains(next.token));
      EXPECT_EQ(next.chance, next.is_kept ? drawn.at(next.token) : 0);
      EXPECT_EQ(next.logit, logits[next.token]);
      chances += next.chance;
    }
    EXPECT_NEAR(chances, 1, 1e-12);
  }
}

TEST(NextTokens, ProbabilitiesAreTheModelsWhateverTheFilters) {
  const std::vector<float> logits{0, std::log(3.0f), std::log(4.0f)};
  for (const double temperature : {0.0, 0.7, 1.0}) {
    const auto found = next_tokens(logits, {.temperature = temperature, .top_k = 1}, 2);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].token, 2);
    EXPECT_NEAR(found[0].probability, 0.5, 1e-6);
    EXPECT_NEAR(found[1].probability, 0.375, 1e-6);
    EXPECT_TRUE(found[0].is_kept);
    EXPECT_EQ(found[0].chance, 1);
    EXPECT_FALSE(found[1].is_kept);
  }
}

TEST(NextTokens, OfALanguageModelAreWhatItWouldWrite) {
  const ModelSession& session = *toy_language();
  const Answer written = answer(session, "the bat s");
  PassInput input{.source = source_ids(session, "the bat s"), .target = {}};
  for (const infer::TokenScore& token : written.tokens) {
    if (std::ssize(input.source) > session.config().max_positions) break;
    const NextToken best = next_tokens(session, input, nullptr, {}, 1).at(0);
    EXPECT_EQ(best.token, token.token);
    EXPECT_EQ(best.probability, std::exp(double{token.log_probability}));
    input.source.push_back(token.token);
  }
}

TEST(NextTokens, OfATranslatorFollowWhatTheDecoderHasRead) {
  const ModelSession& session = *toy_translation();
  PassInput input{.source = source_ids(session, "one two"), .target = {text::own_tokens::end}};
  for (const char* piece : {"▁eins", "▁zwei", "</s>"}) {
    const NextToken best = next_tokens(session, input, nullptr, {}, 1).at(0);
    EXPECT_EQ(session.tokenizer().piece(best.token), piece);
    input.target.push_back(best.token);
  }
  nn::Interventions interventions;
  interventions.scales = {{"decoder.0.cross_attention", 0, 0}};
  EXPECT_NE(next_tokens(session, input, &interventions, {}, 1).at(0).logit,
            next_tokens(session, input, nullptr, {}, 1).at(0).logit);
}

TEST(NextTokens, AreWrittenWithPieces) {
  const auto written =
      to_json({{{.token = 4, .logit = 0.5f, .probability = 0.25}}}, *toy_language());
  EXPECT_EQ(written["tokens"][0]["id"], 4);
  EXPECT_EQ(written["tokens"][0]["piece"], toy_language()->tokenizer().piece(4));
  EXPECT_EQ(written["tokens"][0]["kept"], false);
}

TEST(NextTokens, RefuseWhatDoesNotWriteAndOptionsThatMeanNothing) {
  const PassInput line{.source = source_ids(*toy_classifier(), "the red"), .target = {}};
  EXPECT_THROW(next_tokens(*toy_classifier(), line, nullptr, {}, 5), Error);
  const PassInput text{.source = source_ids(*toy_language(), "the"), .target = {}};
  EXPECT_THROW(next_tokens(*toy_language(), text, nullptr, {.temperature = -1}, 5), Error);
  EXPECT_THROW(next_tokens(*toy_language(), {}, nullptr, {}, 5), Error);
}

}  // namespace
}  // namespace heed::explore
