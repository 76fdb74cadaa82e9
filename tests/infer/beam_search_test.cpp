#include "heed/infer/beam_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/infer/alignment.h"
#include "heed/infer/greedy_search.h"
#include "heed/infer/packing.h"
#include "heed/ops/softmax.h"
#include "heed/text/tokenizer.h"
#include "models/small_models.h"
#include "support/expect_error.h"
#include "support/same_bits.h"

namespace heed::infer {
namespace {

using models::sample_sentences, models::small_config, models::small_configs;
using models::TranslationModel;
using Sentences = std::vector<std::vector<int>>;

constexpr int end_token = text::own_tokens::end;

// log p of every next token after `target`, without any cache.
std::vector<float> next_log_probabilities(const TranslationModel& model,
                                          const std::vector<int>& source,
                                          const std::vector<int>& target) {
  const Tensor all = ops::log_softmax(models::all_logits(model, {source}, {target}));
  return values_of(rows_of(all, static_cast<Index>(target.size()), 1));
}

Hypothesis greedy(const TranslationModel& model, const std::vector<int>& source, Index max_length) {
  Hypothesis found;
  for (;;) {
    std::vector<float> scores = next_log_probabilities(model, source, found.ids);
    const bool is_full = static_cast<Index>(found.ids.size()) == max_length;
    if (found.ids.empty()) scores[end_token] = -INFINITY;
    scores[text::own_tokens::pad] = scores[text::own_tokens::begin] = -INFINITY;
    const int best =
        is_full ? end_token : static_cast<int>(std::ranges::max_element(scores) - scores.begin());
    found.score += scores[best];
    if (best == end_token) break;
    found.ids.push_back(best);
  }
  found.normalised_score = found.score / static_cast<double>(found.ids.size() + 1);
  return found;
}

TEST(BeamSearch, OfSizeOneEqualsGreedySearchWithoutACache) {
  for (const models::TransformerConfig& config : small_configs()) {
    SCOPED_TRACE(models::to_json(config));
    const TranslationModel model(config, 3);
    const Sentences sources = sample_sentences({5, 1, 9});
    const auto found =
        beam_search(model, pack_sources(sources), {.beam_size = 1, .max_length = 25});
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const Hypothesis expected = greedy(model, sources[i], 25);
      ASSERT_EQ(found[i].size(), 1u);
      EXPECT_EQ(found[i][0].ids, expected.ids);
      EXPECT_EQ(found[i][0].score, expected.score);
      EXPECT_EQ(found[i][0].normalised_score, expected.normalised_score);
    }
  }
}

// Every sentence of at most max_length tokens, best first.
void enumerate(const TranslationModel& model, const std::vector<int>& source, Index max_length,
               double penalty, const Hypothesis& so_far, std::vector<Hypothesis>& found) {
  const std::vector<float> scores = next_log_probabilities(model, source, so_far.ids);
  const Index length = static_cast<Index>(so_far.ids.size());
  if (length > 0) {
    const double score = so_far.score + scores[end_token];
    found.push_back({so_far.ids, score, score / std::pow(length + 1.0, penalty)});
  }
  if (length == max_length) return;
  for (const int token : {text::own_tokens::unknown, 4, 5, 6}) {
    Hypothesis longer = so_far;
    longer.ids.push_back(token);
    longer.score += scores[token];
    enumerate(model, source, max_length, penalty, longer, found);
  }
}

TEST(BeamSearch, ABeamThatHoldsEverythingFindsTheBestOfAllSentences) {
  models::TransformerConfig config = small_config();
  config.vocabulary = 7;
  const TranslationModel model(config, 3);
  const std::vector<int> source{4, 6, 5};
  for (const double penalty : {-0.5, 0.0, 0.6, 1.0, 2.0}) {
    SCOPED_TRACE(penalty);
    std::vector<Hypothesis> expected;
    enumerate(model, source, 3, penalty, {}, expected);
    std::ranges::stable_sort(expected, std::greater{}, &Hypothesis::normalised_score);
    const auto found =
        beam_search(model, pack_sources(Sentences{source}),
                    {.beam_size = 100, .length_penalty = penalty, .max_length = 3, .n_best = 6});
    ASSERT_EQ(found[0].size(), 6u);
    for (std::size_t rank = 0; rank < 6; ++rank) {
      EXPECT_EQ(found[0][rank].ids, expected[rank].ids) << "rank " << rank;
      EXPECT_EQ(found[0][rank].normalised_score, expected[rank].normalised_score);
    }
  }
}

void expect_same(const std::vector<Hypothesis>& a, const std::vector<Hypothesis>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].ids, b[i].ids);
    EXPECT_EQ(a[i].score, b[i].score);
    EXPECT_EQ(a[i].normalised_score, b[i].normalised_score);
  }
}

// The rules of beam search as one reads them: no cache, no batch, full sorts.
std::vector<Hypothesis> plain_beam_search(const TranslationModel& model,
                                          const std::vector<int>& source,
                                          const BeamSearchOptions& options) {
  std::vector<Hypothesis> live(1), finished;
  for (Index length = 0; static_cast<Index>(finished.size()) < options.beam_size; ++length) {
    std::vector<Hypothesis> candidates;  // the last id may be the end token
    for (const Hypothesis& parent : live) {
      const std::vector<float> scores = next_log_probabilities(model, source, parent.ids);
      for (int token = 0; token < static_cast<int>(scores.size()); ++token) {
        if (token == text::own_tokens::pad || token == text::own_tokens::begin) continue;
        if (length == 0 && token == end_token) continue;
        if (length == options.max_length && token != end_token) continue;
        candidates.push_back(parent);
        candidates.back().ids.push_back(token);
        candidates.back().score += scores[token];
      }
    }
    std::ranges::stable_sort(candidates, std::greater{}, &Hypothesis::score);
    live.clear();
    for (std::size_t rank = 0; rank < candidates.size(); ++rank) {
      Hypothesis& candidate = candidates[rank];
      const bool is_in_beam = static_cast<Index>(rank) < options.beam_size;
      const bool has_room = static_cast<Index>(finished.size()) < options.beam_size;
      if (candidate.ids.back() != end_token) {
        if (static_cast<Index>(live.size()) < options.beam_size) live.push_back(candidate);
      } else if (is_in_beam && has_room) {
        candidate.ids.pop_back();
        candidate.normalised_score =
            candidate.score / std::pow(length + 1.0, options.length_penalty);
        finished.push_back(candidate);
      }
    }
    if (length == options.max_length) break;
  }
  std::ranges::stable_sort(finished, std::greater{}, &Hypothesis::normalised_score);
  finished.resize(std::min<std::size_t>(finished.size(), options.n_best));
  return finished;
}

TEST(BeamSearch, FollowsTheRulesAsAPlainSearchDoes) {
  for (const std::uint64_t seed : {3, 4, 5}) {
    const TranslationModel model(small_config(), seed);
    const Sentences sources = sample_sentences({5, 2, 8}, seed);
    for (const Index beam_size : {2, 5}) {
      for (const double penalty : {0.0, 1.0}) {
        const BeamSearchOptions options{.beam_size = beam_size,
                                        .length_penalty = penalty,
                                        .max_length = 12,
                                        .n_best = penalty == 0 ? 1 : beam_size};
        const auto found = beam_search(model, pack_sources(sources), options);
        for (std::size_t i = 0; i < sources.size(); ++i) {
          SCOPED_TRACE(testing::Message() << "seed " << seed << ", beam " << beam_size
                                          << ", penalty " << penalty << ", sentence " << i);
          expect_same(found[i], plain_beam_search(model, sources[i], options));
        }
      }
    }
  }
}

TEST(BeamSearch, ASentenceDoesNotDependOnItsNeighboursToTheBit) {
  for (const models::TransformerConfig& config : small_configs()) {
    SCOPED_TRACE(models::to_json(config));
    const TranslationModel model(config, 3);
    const Sentences sources = sample_sentences({5, 1, 9, 20, 5, 3});
    const BeamSearchOptions options{.beam_size = 4, .n_best = 4};
    const auto together = beam_search(model, pack_sources(sources), options);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const auto alone = beam_search(model, pack_sources(Sentences{sources[i]}), options);
      expect_same(alone[0], together[i]);
    }
  }
}

TEST(BeamSearch, WithEveryOptionASentenceDoesNotDependOnItsNeighboursToTheBit) {
  const TranslationModel model(small_config(), 3);
  const Sentences sources = sample_sentences({5, 1, 9, 20, 3});
  const Sentences prefixes{{4}, {}, {5, 6}, {7}, {}};
  const BeamSearchOptions options{.beam_size = 6,
                                  .n_best = 4,
                                  .num_groups = 2,
                                  .coverage_penalty = 0.3,
                                  .constraints = Constraints({{8}, {5, 6, 7}}, {{9, 10}})};
  const auto together = beam_search(model, pack_sources(sources), options, prefixes);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto alone =
        beam_search(model, pack_sources(Sentences{sources[i]}), options, Sentences{prefixes[i]});
    expect_same(alone[0], together[i]);
  }
}

// All sentences of at most three tokens of a vocabulary of seven, as the model scores them.
struct AllSentences {
  AllSentences() : model(config(), 3) { enumerate(model, source, 3, 1, {}, sentences); }

  static models::TransformerConfig config() {
    models::TransformerConfig config = small_config();
    config.vocabulary = 7;
    return config;
  }

  // The best of those that stay, against a beam that holds everything.
  template <typename Stays>
  void expect_best(BeamSearchOptions options, const std::vector<int>& prefix, Stays stays) {
    options.beam_size = 100;
    options.max_length = 3;
    options.n_best = 5;
    std::erase_if(sentences, [&](const Hypothesis& h) { return !stays(h.ids); });
    std::ranges::stable_sort(sentences, std::greater{}, &Hypothesis::normalised_score);
    ASSERT_GE(sentences.size(), 5u);
    const auto found =
        beam_search(model, pack_sources(Sentences{source}), options, Sentences{prefix});
    ASSERT_EQ(found[0].size(), 5u);
    for (std::size_t rank = 0; rank < 5; ++rank) {
      EXPECT_EQ(found[0][rank].ids, sentences[rank].ids) << "rank " << rank;
      EXPECT_EQ(found[0][rank].normalised_score, sentences[rank].normalised_score);
      EXPECT_EQ(found[0][rank].num_missing, 0);
    }
  }

  TranslationModel model;
  std::vector<int> source{4, 6, 5};
  std::vector<Hypothesis> sentences;
};

bool holds(const std::vector<int>& ids, const std::vector<int>& part) {
  return std::search(ids.begin(), ids.end(), part.begin(), part.end()) != ids.end();
}

TEST(BeamSearch, ForbiddenSequencesNeverComeOutAndTheBestOthersDo) {
  AllSentences all;
  all.expect_best({.constraints = Constraints({{4}, {5, 5}}, {})}, {}, [](const auto& ids) {
    return !holds(ids, {4}) && !holds(ids, {5, 5});
  });
}

TEST(BeamSearch, RequiredSequencesComeOutInTheBestWay) {
  AllSentences one, two;
  one.expect_best({.constraints = Constraints({}, {{6, 4}})}, {}, [](const auto& ids) {
    return holds(ids, {6, 4});
  });
  two.expect_best({.constraints = Constraints({{5}}, {{6}, {4}})}, {}, [](const auto& ids) {
    return holds(ids, {6}) && holds(ids, {4}) && !holds(ids, {5});
  });
}

TEST(BeamSearch, APrefixBeginsEveryHypothesis) {
  AllSentences all;
  all.expect_best({}, {5}, [](const auto& ids) { return ids[0] == 5; });
}

TEST(BeamSearch, APrefixMayHoldWhatIsForbiddenAfterIt) {
  AllSentences all;
  all.expect_best({.constraints = Constraints({{5}}, {})}, {5},
                  [](const auto& ids) { return ids[0] == 5 && std::ranges::count(ids, 5) == 1; });
}

TEST(BeamSearch, ASmallBeamFindsRoomForRequiredSequences) {
  for (const std::uint64_t seed : {3, 4, 5}) {
    const TranslationModel model(small_config(), seed);
    for (const Index beam_size : {1, 2, 4, 8}) {
      const BeamSearchOptions options{.beam_size = beam_size,
                                      .constraints = Constraints({}, {{9, 17}, {12}, {5, 5, 18}})};
      const auto found = beam_search(model, pack_sources(sample_sentences({5, 3, 8})), options);
      for (const std::vector<Hypothesis>& best : found) {
        SCOPED_TRACE(testing::Message() << "seed " << seed << ", beam " << beam_size);
        EXPECT_EQ(best[0].num_missing, 0);
        EXPECT_EQ(options.constraints.num_missing(best[0].ids), 0);
      }
    }
  }
}

TEST(BeamSearch, WhereThereIsNoRoomTheHypothesisWithMoreOfTheRequiredWins) {
  const TranslationModel model(small_config(), 3);
  const BeamSearchOptions options{.beam_size = 8,
                                  .max_length = 2,
                                  .n_best = 8,
                                  .constraints = Constraints({}, {{9}, {17}, {12}})};
  const auto found = beam_search(model, pack_sources(sample_sentences({5})), options);
  EXPECT_EQ(found[0].front().num_missing, 1);
  for (std::size_t rank = 1; rank < found[0].size(); ++rank) {
    EXPECT_LE(found[0][rank - 1].num_missing, found[0][rank].num_missing);
  }
}

TEST(BeamSearch, APrefixLongerThanTheLongestOutputStaysWhole) {
  const TranslationModel model(small_config(), 3);
  const std::vector<int> prefix{5, 6, 7, 8};
  const auto found =
      beam_search(model, pack_sources(sample_sentences({5})), {.max_length = 2}, Sentences{prefix});
  EXPECT_EQ(found[0][0].ids, prefix);
}

// Hypotheses of max_length tokens, the end behind them: groups one after another, step by step,
// without a cache.
std::vector<Hypothesis> plain_diverse_search(const TranslationModel& model,
                                             const std::vector<int>& source,
                                             const BeamSearchOptions& options) {
  const Index size = options.beam_size / options.num_groups;
  std::vector<std::vector<Hypothesis>> groups(options.num_groups, std::vector<Hypothesis>(1));
  for (Index length = 0; length < options.max_length; ++length) {
    std::vector<int> taken;
    for (std::vector<Hypothesis>& group : groups) {
      std::vector<std::pair<double, Hypothesis>> candidates;  // by what counts in this step
      for (const Hypothesis& parent : group) {
        const std::vector<float> scores = next_log_probabilities(model, source, parent.ids);
        for (const int token : {1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}) {
          Hypothesis longer = parent;
          longer.ids.push_back(token);
          longer.score += scores[token];
          const double penalty =
              options.diversity_penalty * static_cast<double>(std::ranges::count(taken, token));
          candidates.push_back({longer.score - penalty, longer});
        }
      }
      std::ranges::stable_sort(candidates, std::greater{}, &std::pair<double, Hypothesis>::first);
      group.clear();
      for (Index i = 0; i < size; ++i) group.push_back(candidates[i].second);
      for (const Hypothesis& hypothesis : group) taken.push_back(hypothesis.ids.back());
    }
  }
  std::vector<Hypothesis> found;
  for (const std::vector<Hypothesis>& group : groups) {
    for (Hypothesis hypothesis : group) {
      if (std::ranges::count(found, hypothesis.ids, &Hypothesis::ids) > 0) continue;
      hypothesis.score += next_log_probabilities(model, source, hypothesis.ids)[end_token];
      hypothesis.normalised_score = hypothesis.score / (options.max_length + 1.0);
      found.push_back(hypothesis);
    }
  }
  std::ranges::stable_sort(found, std::greater{}, &Hypothesis::score);
  return found;
}

const Constraints no_early_end({{end_token}}, {});

TEST(BeamSearch, DiverseGroupsFollowTheRulesAsAPlainSearchDoes) {
  const TranslationModel model(small_config(), 3);
  const std::vector<int> source = sample_sentences({5})[0];
  for (const auto& [penalty, num_different] : {std::pair{0.0, 2}, {0.2, 0}, {5.0, 6}}) {
    SCOPED_TRACE(penalty);
    const BeamSearchOptions options{.beam_size = 6,
                                    .max_length = 4,
                                    .n_best = 6,
                                    .num_groups = 3,
                                    .diversity_penalty = penalty,
                                    .constraints = no_early_end};
    const auto found = beam_search(model, pack_sources(Sentences{source}), options);
    expect_same(found[0], plain_diverse_search(model, source, options));
    if (num_different > 0) {
      EXPECT_EQ(std::ssize(found[0]), num_different);
    }
  }
}

// Several pages of the cache, so that beams share some and split others.
TEST(BeamSearch, LongHypothesesEqualThoseOfAPlainSearchWithoutACache) {
  for (const models::TransformerConfig& config : small_configs()) {
    SCOPED_TRACE(models::to_json(config));
    const TranslationModel model(config, 3);
    const Sentences sources = sample_sentences({5, 2});
    const BeamSearchOptions options{
        .beam_size = 4, .max_length = 40, .n_best = 4, .constraints = no_early_end};
    const auto found = beam_search(model, pack_sources(sources), options);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      expect_same(found[i], plain_diverse_search(model, sources[i], options));
    }
  }
}

TEST(BeamSearch, WithoutADiversityPenaltyGroupsFindWhatOneOfThemFinds) {
  const TranslationModel model(small_config(), 3);
  const models::PackedIds sources = pack_sources(sample_sentences({5, 9}));
  const auto one = beam_search(model, sources, {.beam_size = 2, .n_best = 2});
  const auto groups = beam_search(
      model, sources, {.beam_size = 6, .n_best = 2, .num_groups = 3, .diversity_penalty = 0});
  for (std::size_t i = 0; i < one.size(); ++i) expect_same(one[i], groups[i]);
}

TEST(BeamSearch, ACoveragePenaltyAddsTheLogarithmsOfTheAttentionThatSourceTokensGot) {
  const TranslationModel model(small_config(), 3);
  const Sentences sources = sample_sentences({5, 1, 9});
  const BeamSearchOptions options{.beam_size = 4, .n_best = 4, .coverage_penalty = 0.4};
  const auto found = beam_search(model, pack_sources(sources), options);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    for (const Hypothesis& hypothesis : found[i]) {
      const Tensor weights =
          cross_attention_weights(model, Sentences{sources[i]}, Sentences{hypothesis.ids}, 1)[0];
      const Index heads = weights.dim(0), steps = weights.dim(1), keys = weights.dim(2);
      double expected = hypothesis.score / static_cast<double>(steps);
      for (Index key = 0; key + 1 < keys; ++key) {
        double seen = 0;
        for (Index row = 0; row < heads * steps; ++row) {
          seen += weights.values()[row * keys + key] / static_cast<double>(heads);
        }
        expected += 0.4 * std::log(std::min(seen, 1.0));
      }
      EXPECT_NEAR(hypothesis.normalised_score, expected, 1e-5);
    }
    for (std::size_t rank = 1; rank < found[i].size(); ++rank) {
      EXPECT_GE(found[i][rank - 1].normalised_score, found[i][rank].normalised_score);
    }
  }
}

TEST(BeamSearch, TellsTheLogProbabilityOfEveryToken) {
  const TranslationModel model(small_config(), 3);
  const Sentences sources = sample_sentences({5});
  const auto found = beam_search(model, pack_sources(sources), {.beam_size = 3, .n_best = 3});
  for (const Hypothesis& hypothesis : found[0]) {
    ASSERT_EQ(hypothesis.log_probabilities.size(), hypothesis.ids.size() + 1);
    const Tensor all = ops::log_softmax(models::all_logits(model, sources, {hypothesis.ids}));
    for (std::size_t t = 0; t <= hypothesis.ids.size(); ++t) {
      const int token = t < hypothesis.ids.size() ? hypothesis.ids[t] : end_token;
      EXPECT_EQ(hypothesis.log_probabilities[t], all.values()[t * 20 + token]);
    }
  }
}

TEST(BeamSearch, HasTheSameBitsForAnyNumberOfThreads) {
  const TranslationModel model(small_config(), 3);
  const models::PackedIds sources = pack_sources(sample_sentences({5, 1, 9, 20, 5, 3}));
  const int before = num_threads();
  set_num_threads(1);
  const auto one = beam_search(model, sources);
  set_num_threads(3);
  const auto three = beam_search(model, sources);
  set_num_threads(before);
  for (std::size_t i = 0; i < one.size(); ++i) expect_same(one[i], three[i]);
}

TEST(BeamSearch, ScoresAreThoseThatTheModelGivesToTheWholeSentence) {
  const TranslationModel model(small_config(), 3);
  const Sentences sources = sample_sentences({5});
  const auto found = beam_search(model, pack_sources(sources), {.beam_size = 3, .n_best = 3});
  for (const Hypothesis& hypothesis : found[0]) {
    double score = 0;
    const Tensor all = ops::log_softmax(models::all_logits(model, sources, {hypothesis.ids}));
    for (std::size_t t = 0; t <= hypothesis.ids.size(); ++t) {
      const int token = t < hypothesis.ids.size() ? hypothesis.ids[t] : end_token;
      score += all.values()[t * 20 + token];
    }
    EXPECT_EQ(hypothesis.score, score);
  }
}

TEST(BeamSearch, ReturnsTheNBestInOrderWithoutSpecialTokens) {
  const TranslationModel model(small_config(), 3);
  const auto found = beam_search(model, pack_sources(sample_sentences({5, 9})),
                                 {.beam_size = 5, .n_best = 5, .allow_unknown = false});
  for (const std::vector<Hypothesis>& hypotheses : found) {
    ASSERT_EQ(hypotheses.size(), 5u);
    for (std::size_t rank = 0; rank < 5; ++rank) {
      if (rank > 0) {
        EXPECT_GE(hypotheses[rank - 1].normalised_score, hypotheses[rank].normalised_score);
        EXPECT_NE(hypotheses[rank - 1].ids, hypotheses[rank].ids);
      }
      EXPECT_FALSE(hypotheses[rank].ids.empty());
      for (const int token : hypotheses[rank].ids) EXPECT_GT(token, end_token);
    }
  }
}

TEST(BeamSearch, TiesGoToTheLowerToken) {
  TranslationModel model(small_config(), 3);
  Tensor table = nn::named_parameters(model).front().value;
  for (int token = 5; token < 20; token += 2) {  // 4 and 5, 6 and 7 ... cannot be told apart
    std::copy_n(table.data() + (token - 1) * 16, 16, table.data() + token * 16);
  }
  const auto found = beam_search(model, pack_sources(sample_sentences({5})), {.beam_size = 1});
  ASSERT_FALSE(found[0][0].ids.empty());
  for (const int token : found[0][0].ids) EXPECT_TRUE(token % 2 == 0 || token == 1) << token;
}

TEST(BeamSearch, StopsAtTheLongestLengthAndAtTheLastLearnedPosition) {
  models::TransformerConfig config = small_config();
  const TranslationModel model(config, 3);
  const auto found = beam_search(model, pack_sources(sample_sentences({5})),
                                 {.beam_size = 4, .max_length = 2, .n_best = 4});
  for (const Hypothesis& hypothesis : found[0]) EXPECT_LE(hypothesis.ids.size(), 2u);

  config.positions = models::Positions::learned;
  config.max_positions = 10;
  const TranslationModel bounded(config, 3);
  const auto short_ones =
      beam_search(bounded, pack_sources(sample_sentences({5})), {.max_length = 40});
  for (const Hypothesis& hypothesis : short_ones[0]) EXPECT_LE(hypothesis.ids.size(), 9u);
}

// Keeps what it hears.
struct Listener : BeamObserver {
  void on_step(std::span<const BeamCandidate> candidates) override {
    steps.emplace_back(candidates.begin(), candidates.end());
  }
  std::vector<std::vector<BeamCandidate>> steps;
};

TEST(BeamSearch, AnObserverHearsEveryStepAndChangesNoBit) {
  const TranslationModel model(small_config(), 3);
  for (const std::vector<int>& source : sample_sentences({1, 5, 9})) {
    BeamSearchOptions options{.beam_size = 4, .max_length = 12, .n_best = 4};
    const auto expected = beam_search(model, pack_sources(Sentences{source}), options);
    Listener listener;
    options.observer = &listener;
    const auto found = beam_search(model, pack_sources(Sentences{source}), options);
    expect_same(found[0], expected[0]);

    std::vector<double> finished;
    for (const auto& candidates : listener.steps) {
      EXPECT_LE(candidates.size(), 8u);
      Index num_live = 0;
      for (const BeamCandidate& candidate : candidates) {
        const bool is_end = candidate.token.token == end_token;
        num_live += candidate.fate == BeamCandidate::Fate::live;
        if (candidate.fate != BeamCandidate::Fate::finished) continue;
        EXPECT_TRUE(is_end);
        finished.push_back(candidate.normalised_score);
      }
      EXPECT_LE(num_live, 4);
    }
    std::ranges::sort(finished, std::greater{});
    ASSERT_GE(finished.size(), found[0].size());
    for (std::size_t i = 0; i < found[0].size(); ++i) {
      EXPECT_EQ(found[0][i].normalised_score, finished[i]);
    }
  }
}

TEST(BeamSearch, AnObserverHearsOfOneSourceAndOneGroupOnly) {
  const TranslationModel model(small_config(), 3);
  Listener listener;
  EXPECT_THROW(beam_search(model, pack_sources(sample_sentences({2, 3})), {.observer = &listener}),
               Error);
  EXPECT_THROW(beam_search(model, pack_sources(sample_sentences({2})),
                           {.beam_size = 4, .num_groups = 2, .observer = &listener}),
               Error);
}

TEST(BeamSearch, AnEmptyBatchHasNoResults) {
  const TranslationModel model(small_config(), 3);
  EXPECT_TRUE(beam_search(model, {}).empty());
}

TEST(BeamSearch, RefusesABeamThatCannotHoldTheBest) {
  const TranslationModel model(small_config(), 3);
  const models::PackedIds sources = pack_sources(sample_sentences({5}));
  EXPECT_THROW(beam_search(model, sources, {.beam_size = 0}), Error);
  EXPECT_THROW(beam_search(model, sources, {.beam_size = 2, .n_best = 3}), Error);
}

TEST(BeamSearch, RefusesGroupsPenaltiesAndPrefixesThatMeanNothing) {
  const TranslationModel model(small_config(), 3);
  const models::PackedIds sources = pack_sources(sample_sentences({5}));
  EXPECT_THROW(beam_search(model, sources, {.beam_size = 5, .num_groups = 2}), Error);
  EXPECT_THROW(beam_search(model, sources, {.beam_size = 5, .num_groups = 0}), Error);
  EXPECT_THROW(beam_search(model, sources, {.diversity_penalty = -1}), Error);
  EXPECT_THROW(beam_search(model, sources, {.coverage_penalty = -1}), Error);
  EXPECT_THROW(beam_search(model, sources, {}, Sentences{{4}, {5}}), Error);
  EXPECT_THROW(beam_search(model, sources, {}, Sentences{{20}}), Error);
  models::TransformerConfig config = small_config();
  config.positions = models::Positions::learned;
  config.max_positions = 6;
  const TranslationModel bounded(config, 3);
  EXPECT_NO_THROW(beam_search(bounded, sources, {}, Sentences{std::vector<int>(5, 4)}));
  EXPECT_THROW(beam_search(bounded, sources, {}, Sentences{std::vector<int>(6, 4)}), Error);
}

TEST(BeamSearch, AModelOfNaNsIsAnErrorAndNoEndlessSearch) {
  TranslationModel model(small_config(), 3);
  for (nn::NamedTensor& parameter : nn::named_parameters(model)) {
    for (float& value : parameter.value.values()) value = std::nanf("");
  }
  EXPECT_THROW(beam_search(model, pack_sources(sample_sentences({5}))), Error);
  const auto projection = model.argmax_projection();
  EXPECT_THROW(
      greedy_search(model, projection, pack_sources(sample_sentences({5})), {.beam_size = 1}),
      Error);
}

TEST(BeamSearch, NumbersBeyondTheirBoundsAreNamed) {
  const TranslationModel model(small_config(), 3);
  const auto error = [&](const BeamSearchOptions& options, const std::string& message) {
    expect_error(ErrorKind::usage, message,
                 [&] { beam_search(model, pack_sources(sample_sentences({5})), options); });
  };
  error({.beam_size = 0}, "`beam_size`: expected a whole number from 1 to 1000, found 0");
  error({.beam_size = 1001}, "`beam_size`: expected a whole number from 1 to 1000, found 1001");
  error({.length_penalty = std::nan("")},
        "`length_penalty`: expected a number from -10 to 10, found nan");
  error({.diversity_penalty = -1},
        "`diversity_penalty`: expected a number from 0 to 1000, found -1");
  error({.coverage_penalty = std::numeric_limits<double>::infinity()},
        "`coverage_penalty`: expected a number from 0 to 1000, found inf");
}

}  // namespace
}  // namespace heed::infer
