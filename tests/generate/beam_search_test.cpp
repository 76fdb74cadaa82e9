#include "heed/generate/beam_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/generate/packing.h"
#include "heed/ops/softmax.h"
#include "heed/text/tokenizer.h"
#include "models/small_models.h"
#include "support/same_bits.h"

namespace heed::generate {
namespace {

using models::sample_sentences, models::small_config, models::small_configs;
using models::TranslationModel;
using Sentences = std::vector<std::vector<int>>;

constexpr int end_token = text::Tokenizer::end;

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
    scores[text::Tokenizer::pad] = scores[text::Tokenizer::begin] = -INFINITY;
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
  for (const int token : {text::Tokenizer::unknown, 4, 5, 6}) {
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
        if (token == text::Tokenizer::pad || token == text::Tokenizer::begin) continue;
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

TEST(BeamSearch, AModelOfNaNsIsAnErrorAndNoEndlessSearch) {
  TranslationModel model(small_config(), 3);
  for (nn::NamedTensor& parameter : nn::named_parameters(model)) {
    for (float& value : parameter.value.values()) value = std::nanf("");
  }
  EXPECT_THROW(beam_search(model, pack_sources(sample_sentences({5}))), Error);
}

}  // namespace
}  // namespace heed::generate
