#include "heed/infer/greedy_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heed/infer/beam_search.h"
#include "heed/infer/packing.h"
#include "infer/memorised_translator.h"
#include "models/small_models.h"
#include "support/expect_error.h"

namespace heed::infer {
namespace {

using models::sample_sentences, models::small_config, models::small_configs;
using models::TranslationModel;
using Sentences = std::vector<std::vector<int>>;

Sentences by_beam(const TranslationModel& model, const Sentences& sources,
                  const BeamSearchOptions& options, const Sentences& prefixes = {}) {
  Sentences found;
  for (const auto& best : beam_search(model, pack_sources(sources), options, prefixes)) {
    found.push_back(best.front().ids);
  }
  return found;
}

Sentences by_greed(const TranslationModel& model, const Sentences& sources,
                   const BeamSearchOptions& options, const Sentences& prefixes = {}) {
  return greedy_search(model, model.argmax_projection(), pack_sources(sources), options, prefixes);
}

TEST(GreedySearch, FindsTheTokensOfABeamOfOne) {
  for (const models::TransformerConfig& config : small_configs()) {
    SCOPED_TRACE(models::to_json(config));
    for (const std::uint64_t seed : {1, 2, 3}) {
      const TranslationModel model(config, seed);
      const Sentences sources = sample_sentences({5, 1, 9, 3}, seed);
      for (BeamSearchOptions options :
           {BeamSearchOptions{.beam_size = 1, .max_length = 25},
            BeamSearchOptions{.beam_size = 1, .allow_unknown = false},
            BeamSearchOptions{.beam_size = 1, .length_penalty = 0, .max_length = 1}}) {
        EXPECT_EQ(by_greed(model, sources, options), by_beam(model, sources, options));
        options.constraints = Constraints({{5}, {6, 7}}, {});
        EXPECT_EQ(by_greed(model, sources, options), by_beam(model, sources, options));
      }
      const Sentences prefixes{{7, 7}, {}, {4, 9, 11}, {6}};
      const BeamSearchOptions options{.beam_size = 1, .max_length = 2};
      EXPECT_EQ(by_greed(model, sources, options, prefixes),
                by_beam(model, sources, options, prefixes));
    }
  }
}

TEST(GreedySearch, FindsTheSameInPackedAndNarrowModels) {
  const TranslationModel model(small_config(), 4);
  const Sentences sources = sample_sentences({5, 1, 9});
  const BeamSearchOptions options{.beam_size = 1, .max_length = 20};
  EXPECT_EQ(by_greed(models::pack(model), sources, options), by_beam(model, sources, options));
  for (const models::WeightFormat format : models::quantized_formats) {
    const TranslationModel quantized = models::quantize(model, format);
    EXPECT_EQ(by_greed(quantized, sources, options), by_beam(quantized, sources, options));
  }
}

// The tokens of a learned language, where the finder is sure, and long ends at different steps.
TEST(GreedySearch, TranslatesAsABeamOfOneDoes) {
  const models::TranslationModelFolder& folder = word_by_word_model();
  const WordByWordCorpus corpus;
  Sentences sources;
  for (const std::string& source : corpus.sources) {
    sources.push_back(folder.tokenizer.encode(source));
  }
  const BeamSearchOptions options{.beam_size = 1};
  const Sentences found = by_greed(folder.model, sources, options);
  EXPECT_EQ(found, by_beam(folder.model, sources, options));
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(folder.tokenizer.decode(found[i]), corpus.targets[i]);
  }
}

// All logits are equal: the lowest token that may come, as beams take it.
TEST(GreedySearch, OfTiesTakesTheLowestToken) {
  models::TransformerConfig config = small_config();
  config.tying = models::Tying::none;
  const TranslationModel model(config, 1);
  for (nn::NamedTensor& parameter : models::parameters(model)) {
    if (parameter.name == "output.weight") std::ranges::fill(parameter.value.values(), 0.0f);
  }
  const BeamSearchOptions options{.beam_size = 1, .max_length = 3, .allow_unknown = false};
  const Sentences sources = sample_sentences({4, 2});
  EXPECT_EQ(by_greed(model, sources, options), (Sentences{{4}, {4}}));
  EXPECT_EQ(by_beam(model, sources, options), (Sentences{{4}, {4}}));
}

TEST(GreedySearch, IsForOneHypothesisThatNobodyWatchesOrRequiresWordsOf) {
  EXPECT_TRUE(is_greedy({.beam_size = 1}));
  EXPECT_FALSE(is_greedy({.beam_size = 2}));
  EXPECT_FALSE(is_greedy({.beam_size = 1, .constraints = Constraints({}, {{5}})}));
  const TranslationModel model(small_config(), 1);
  EXPECT_TRUE(by_greed(model, {}, {.beam_size = 1}).empty());
  expect_error(ErrorKind::usage,
               "`n_best`: expected a whole number from 1 to the beam's 1, found 2",
               [&] { by_greed(model, {{5}}, {.beam_size = 1, .n_best = 2}); });
}

TEST(GreedySearch, RefusesAModelWhoseScoresAreNoNumbers) {
  const TranslationModel model(small_config(), 1);
  for (nn::NamedTensor& parameter : models::parameters(model)) {
    if (parameter.name.starts_with("decoder.1")) parameter.value.values()[0] = NAN;
  }
  expect_error(ErrorKind::model,
               "model: expected finite logits, found NaN or infinity (weights are damaged, or "
               "too large for this input)",
               [&] { by_greed(model, {{5}}, {.beam_size = 1}); });
}

}  // namespace
}  // namespace heed::infer
