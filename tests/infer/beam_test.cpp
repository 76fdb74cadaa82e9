// The rules of transformers' beam search, on distributions that are small enough to search by hand.
#include "heed/infer/beam.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace heed::infer {
namespace {

using models::EarlyStopping;
using Ids = std::vector<int>;
// The probabilities of the end, a and b after these tokens.
using Probabilities = std::map<Ids, std::vector<float>>;

constexpr int end = 0, a = 1, b = 2;
const text::SpecialTokens tokens{
    .pad = -1, .unknown = -1, .begin = -1, .ends = {end}, .decoder_start = -1};

struct Outcome {
  std::vector<Hypothesis> best;
  Index num_steps = 0;
};

BeamSearchOptions by_transformers(BeamSearchOptions options) {
  options.rules = models::SearchRules::transformers;
  return options;
}

// After tokens that are not in the table the end is certain.
Outcome search(const Probabilities& table, Index max_length, const BeamSearchOptions& options,
               const text::SpecialTokens& special = tokens) {
  SentenceBeams beams(max_length, {}, options, special);
  Outcome outcome;
  for (; !beams.is_finished(); ++outcome.num_steps) {
    std::vector<std::vector<float>> rows;
    for (const Ids& ids : beams.live_ids()) {
      const auto row = table.find(ids);
      rows.push_back(row == table.end() ? std::vector<float>{1, 0, 0} : row->second);
      for (float& probability : rows.back()) probability = std::log(probability);
    }
    std::vector<LogProbabilities> next;
    for (const std::vector<float>& row : rows) next.push_back(LogProbabilities::of_values(row));
    beams.advance({next, {}});
  }
  outcome.best = beams.take_best();
  return outcome;
}

void expect_hypothesis(const Hypothesis& found, const Ids& ids, double score) {
  EXPECT_EQ(found.ids, ids);
  EXPECT_NEAR(found.normalised_score, score, 1e-6);
}

const Probabilities two_lengths{{{}, {.4f, .6f, 0}}, {{a}, {.5f, .5f, 0}}};

TEST(Beam, TheLengthPenaltyDividesByALengthThatCountsTheEnd) {
  const auto best = [](double penalty) {
    return search(two_lengths, 5,
                  by_transformers({.beam_size = 2, .length_penalty = penalty, .n_best = 2}))
        .best;
  };
  expect_hypothesis(best(0)[0], {}, std::log(.4));
  expect_hypothesis(best(1)[0], {a, a}, std::log(.3) / 3);
  expect_hypothesis(best(2)[0], {a, a}, std::log(.3) / 9);
  expect_hypothesis(best(-1)[0], {}, std::log(.4));
  expect_hypothesis(best(-1)[1], {a}, std::log(.3) * 2);
}

// After one token two hypotheses are finished; after two, none that is live can beat the worse one
// at its length; after three, longer ones do.
const Probabilities three_stops{{{}, {.4f, .5f, .1f}},
                                {{a}, {.4f, .3f, .3f}},
                                {{b}, {.1f, .45f, .45f}},
                                {{a, a}, {.2f, .4f, .4f}},
                                {{a, b}, {.2f, .4f, .4f}}};

TEST(Beam, EarlyStoppingHasThreeForms) {
  BeamSearchOptions options = by_transformers({.beam_size = 2});
  options.early_stopping = EarlyStopping::yes;
  Outcome found = search(three_stops, 6, options);
  EXPECT_EQ(found.num_steps, 2);
  expect_hypothesis(found.best[0], {a}, std::log(.2) / 2);

  options.early_stopping = EarlyStopping::no;
  found = search(three_stops, 6, options);
  EXPECT_EQ(found.num_steps, 3);
  expect_hypothesis(found.best[0], {a}, std::log(.2) / 2);

  options.early_stopping = EarlyStopping::never;
  found = search(three_stops, 6, options);
  EXPECT_EQ(found.num_steps, 4);
  expect_hypothesis(found.best[0], {a, a, a}, std::log(.06) / 4);
}

TEST(Beam, AFinishedHypothesisTakesThePlaceOfTheWorst) {
  BeamSearchOptions options = by_transformers({.beam_size = 2, .n_best = 2});
  options.early_stopping = EarlyStopping::never;
  const auto best = search(three_stops, 6, options).best;
  ASSERT_EQ(best.size(), 2u);
  expect_hypothesis(best[0], {a, a, a}, std::log(.06) / 4);
  expect_hypothesis(best[1], {a, b, a}, std::log(.06) / 4);
}

TEST(Beam, AnEndBeyondTheBeamIsNoEnd) {
  // The end is the third of the candidates of the first step.
  const Probabilities table{{{}, {.2f, .5f, .3f}}};
  const auto best = search(table, 4, by_transformers({.beam_size = 2, .n_best = 2})).best;
  ASSERT_EQ(best.size(), 2u);
  EXPECT_EQ(best[0].ids, Ids{a});
  EXPECT_EQ(best[1].ids, Ids{b});
}

TEST(Beam, WhatHasNoEndAtTheLimitCompetesAsItIs) {
  const Probabilities table{{{}, {.1f, .6f, .3f}}, {{a}, {.1f, .9f, 0}}, {{b}, {.5f, .5f, 0}}};
  const auto best = search(table, 2, by_transformers({.beam_size = 2, .n_best = 2})).best;
  ASSERT_EQ(best.size(), 2u);
  expect_hypothesis(best[0], {a, a}, std::log(.54) / 2);
  EXPECT_EQ(best[0].log_probabilities.size(), 2u);
  expect_hypothesis(best[1], {b}, std::log(.15) / 2);
  EXPECT_EQ(best[1].log_probabilities.size(), 2u);
}

TEST(Beam, OfSizeOneStopsAtItsFirstEndWhateverEarlyStoppingSays) {
  BeamSearchOptions options = by_transformers({.beam_size = 1});
  options.early_stopping = EarlyStopping::never;
  const Outcome found = search({{{}, {.3f, .7f, 0}}, {{a}, {.6f, .4f, 0}}}, 9, options);
  EXPECT_EQ(found.num_steps, 2);
  expect_hypothesis(found.best[0], {a}, std::log(.42) / 2);
}

TEST(Beam, EveryEndTokenEnds) {
  const text::SpecialTokens ends{
      .pad = -1, .unknown = -1, .begin = -1, .ends = {end, b}, .decoder_start = -1};
  const Probabilities table{{{}, {.35f, .25f, .4f}}, {{a}, {.3f, .4f, .3f}}};
  const Outcome found = search(table, 5, by_transformers({.beam_size = 2, .n_best = 2}), ends);
  // Both ends are the best two candidates, and only the third stays live.
  EXPECT_EQ(found.num_steps, 2);
  ASSERT_EQ(found.best.size(), 2u);
  expect_hypothesis(found.best[0], {}, std::log(.4));
  expect_hypothesis(found.best[1], {}, std::log(.35));
}

TEST(Beam, AnEmptyHypothesisIsAllowedByTransformersAndNotByHeed) {
  const Probabilities table{{{}, {.9f, .1f, 0}}};
  EXPECT_EQ(search(table, 4, by_transformers({.beam_size = 1})).best[0].ids, Ids{});
  EXPECT_EQ(search(table, 4, {.beam_size = 1}).best[0].ids, Ids{a});
}

TEST(Beam, ThePenaltyOfGroupsIsPartOfTheScore) {
  const Probabilities table{{{}, {0, .6f, .4f}}};
  BeamSearchOptions options = by_transformers({.beam_size = 2, .n_best = 2, .num_groups = 2});
  options.diversity_penalty = 0.25;  // less than the difference: both groups choose a
  const auto best = search(table, 3, options).best;
  ASSERT_EQ(best.size(), 2u);
  expect_hypothesis(best[0], {a}, std::log(.6) / 2);
  expect_hypothesis(best[1], {a}, (std::log(.6) - 0.25) / 2);
}

}  // namespace
}  // namespace heed::infer
