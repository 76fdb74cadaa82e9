#include "heed/infer/sampling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "support/expect_error.h"

namespace heed::infer {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

// Logits of 12 tokens whose order is not that of the tokens.
std::vector<float> some_logits() {
  return {0.3f, 2.1f, -1.0f, 1.7f, 0.0f, -3.2f, 2.1f, 0.9f, -0.4f, 1.1f, -infinity, 0.5f};
}

std::vector<double> softmax(const std::vector<float>& logits, double temperature = 1) {
  std::vector<double> result;
  double sum = 0;
  for (const float logit : logits) {
    result.push_back(std::exp(static_cast<double>(logit) / temperature));
    sum += result.back();
  }
  for (double& p : result) p /= sum;
  return result;
}

// What a filter should leave of a distribution, straight from its definition.
std::map<int, double> renormalised(const std::vector<double>& probabilities,
                                   const std::vector<int>& tokens) {
  double sum = 0;
  for (const int token : tokens) sum += probabilities[static_cast<std::size_t>(token)];
  std::map<int, double> result;
  for (const int token : tokens) {
    result[token] = probabilities[static_cast<std::size_t>(token)] / sum;
  }
  return result;
}

void expect_candidates(const std::vector<TokenProbability>& found,
                       const std::map<int, double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  double before = 1;
  for (const TokenProbability& candidate : found) {
    ASSERT_TRUE(expected.contains(candidate.token)) << candidate.token;
    EXPECT_NEAR(candidate.probability, expected.at(candidate.token), 1e-12) << candidate.token;
    EXPECT_LE(candidate.probability, before);
    before = candidate.probability;
  }
}

TEST(Sampling, EachFilterLeavesWhatItsDefinitionSays) {
  const std::vector<float> logits = some_logits();
  const auto p = softmax(logits);
  std::vector<int> all;
  for (int token = 0; token < 12; ++token) {
    if (token != 10) all.push_back(token);
  }
  expect_candidates(candidates(logits, {}), renormalised(p, all));
  expect_candidates(candidates(logits, {.temperature = 0.5}),
                    renormalised(softmax(logits, 0.5), all));
  expect_candidates(candidates(logits, {.top_k = 3}), renormalised(p, {1, 6, 3}));
  expect_candidates(candidates(logits, {.top_k = 100}), renormalised(p, all));
  // The two best have 0.252 each, the next has 0.169.
  ASSERT_NEAR(p[1], 0.2525, 1e-4);
  ASSERT_NEAR(p[3], 0.1692, 1e-4);
  expect_candidates(candidates(logits, {.top_p = 0.2}), renormalised(p, {1}));
  expect_candidates(candidates(logits, {.top_p = 0.5}), renormalised(p, {1, 6}));
  expect_candidates(candidates(logits, {.top_p = 0.6}), renormalised(p, {1, 6, 3}));
  expect_candidates(candidates(logits, {.min_p = 0.5}), renormalised(p, {1, 6, 3}));
  expect_candidates(candidates(logits, {.min_p = 1}), renormalised(p, {1, 6}));
  // The share of top_p is one of what top_k left.
  expect_candidates(candidates(logits, {.top_k = 3, .top_p = 0.7}), renormalised(p, {1, 6}));
}

TEST(Sampling, TemperatureZeroIsTheMostLikelyTokenAndTiesGoToTheLower) {
  expect_candidates(candidates(some_logits(), {.temperature = 0}), {{1, 1.0}});
}

TEST(Sampling, DrawsFollowTheDistribution) {
  // Chi-square over 100,000 draws; the limits are the 99.99% points for the degrees of freedom.
  const std::map<std::size_t, double> limits{{1, 15.14}, {2, 18.42}, {10, 35.56}};
  const std::vector<SamplingOptions> filters{{},
                                             {.temperature = 0.7},
                                             {.temperature = 1.8},
                                             {.top_k = 3},
                                             {.top_p = 0.6},
                                             {.min_p = 0.5},
                                             {.top_p = 0.5},
                                             {.repetition_penalty = 1.5}};
  constexpr int num_draws = 100'000;
  const std::vector<int> past{1, 3, 3};
  for (std::size_t number = 0; number < filters.size(); ++number) {
    SCOPED_TRACE(number);
    std::vector<float> logits = some_logits();
    penalise_repetition(logits, past, filters[number].repetition_penalty);
    const auto expected = candidates(logits, filters[number]);
    const Sampler sampler(filters[number], 7);
    std::map<int, int> counts;
    for (int draw = 0; draw < num_draws; ++draw) {
      std::vector<float> fresh = some_logits();
      ++counts[sampler.next(fresh, past, static_cast<std::uint64_t>(draw))];
    }
    double chi_square = 0;
    int total = 0;
    for (const TokenProbability& candidate : expected) {
      const double mean = num_draws * candidate.probability;
      chi_square += std::pow(counts[candidate.token] - mean, 2) / mean;
      total += counts[candidate.token];
    }
    EXPECT_EQ(total, num_draws);  // nothing but candidates
    EXPECT_LT(chi_square, limits.at(expected.size() - 1));
  }
}

TEST(Sampling, ADrawDependsOnSeedTextAndPositionAlone) {
  const Sampler sampler({}, 3), same({}, 3), other({}, 4);
  int differences = 0;
  for (std::uint64_t text = 0; text < 50; ++text) {
    std::vector<float> first = some_logits(), second = some_logits(), third = some_logits();
    const std::vector<int> past(text % 5, 0);
    const int token = sampler.next(first, past, text);
    EXPECT_EQ(same.next(second, past, text), token);
    differences += other.next(third, past, text) != token;
  }
  EXPECT_GT(differences, 10);
}

TEST(Sampling, RepetitionPenaltyByHand) {
  std::vector<float> logits{2, -2, 2, 0};
  const auto before = penalise_repetition(logits, std::vector<int>{0, 1, 0, 3}, 2);
  EXPECT_EQ(logits, (std::vector<float>{1, -4, 2, 0}));
  ASSERT_EQ(before.size(), 3u);
  EXPECT_EQ(before[1].token, 1);
  EXPECT_EQ(before[1].logit, -2);
}

TEST(Sampling, NoRunOfTokensComesTwice) {
  const auto forbidden = [](const std::vector<int>& past, Index length) {
    std::vector<float> logits(5, 0.0f);
    forbid_repeated_ngrams(logits, past, length);
    std::vector<int> result;
    for (int token = 0; token < 5; ++token) {
      if (logits[static_cast<std::size_t>(token)] == -infinity) result.push_back(token);
    }
    return result;
  };
  EXPECT_EQ(forbidden({1, 2, 3, 1, 2}, 3), (std::vector<int>{3}));
  EXPECT_EQ(forbidden({1, 2, 3, 1, 2, 4, 1, 2}, 3), (std::vector<int>{3, 4}));
  EXPECT_EQ(forbidden({1, 2, 3, 1, 2}, 4), (std::vector<int>{}));
  EXPECT_EQ(forbidden({1, 2, 2}, 1), (std::vector<int>{1, 2}));
  EXPECT_EQ(forbidden({1, 1}, 2), (std::vector<int>{1}));
  EXPECT_EQ(forbidden({}, 1), (std::vector<int>{}));
  EXPECT_EQ(forbidden({1}, 3), (std::vector<int>{}));
  EXPECT_EQ(forbidden({1, 2}, 0), (std::vector<int>{}));
}

TEST(Sampling, NanAndMinusInfinityAreNeverDrawn) {
  const std::vector<float> logits{std::nanf(""), -infinity, 0.5f, std::nanf("")};
  expect_candidates(candidates(logits, {}), {{2, 1.0}});
  expect_error(ErrorKind::model, "sampling: expected a finite logit, found none among 2", [&] {
    candidates(std::vector<float>{-infinity, std::nanf("")}, {});
  });
  expect_error(ErrorKind::failed,
               "sampling: expected a token that may come next, found none among 2", [&] {
                 candidates(std::vector<float>{-infinity, -infinity}, {});
               });
}

TEST(Sampling, RefusesOptionsThatMeanNothing) {
  const std::vector<SamplingOptions> bad{{.repetition_penalty = 0},
                                         {.no_repeat_ngram = -1},
                                         {.temperature = -1},
                                         {.top_k = -1},
                                         {.top_p = 0},
                                         {.top_p = 1.1},
                                         {.min_p = -0.1},
                                         {.min_p = 1.5},
                                         {.temperature = std::nan("")}};
  for (const SamplingOptions& options : bad) EXPECT_THROW(Sampler(options, 1), Error);
}

}  // namespace
}  // namespace heed::infer
