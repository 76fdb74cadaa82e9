#include "heed/infer/generation_options.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "support/expect_error.h"

namespace heed::infer {
namespace {

using models::GenerationConfig;
using models::SearchRules;

const models::TransformerConfig config;

TEST(GenerationOptions, OfHeedsOwnModelsAreTheDefaults) {
  const GenerationConfig own{.beam_size = 3, .length_penalty = 0.5, .max_length = 7};
  const BeamSearchOptions search = search_options(own, config);
  EXPECT_EQ(search.beam_size, 3);
  EXPECT_EQ(search.length_penalty, 0.5);
  EXPECT_EQ(search.max_length, 7);
  EXPECT_EQ(search.diversity_penalty, 0.5);
  EXPECT_EQ(search.rules, SearchRules::heed);
  const GenerationOptions texts = generation_options(own, config);
  EXPECT_EQ(texts.beam_size, 1);
  EXPECT_EQ(texts.sampling.temperature, 1);
  EXPECT_EQ(texts.max_tokens, 256);
}

TEST(GenerationOptions, OfATranslatorDoNotCountTheTokenThatStartsTheDecoder) {
  GenerationConfig generation{.beam_size = 4, .max_length = 10, .rules = SearchRules::transformers};
  generation.token_rules.no_repeat_ngram = 2;
  generation.ends = {7, 8};
  const BeamSearchOptions search = search_options(generation, config);
  EXPECT_EQ(search.max_length, 9);
  EXPECT_EQ(search.rules, SearchRules::transformers);
  EXPECT_EQ(search.token_rules.no_repeat_ngram, 2);
  EXPECT_EQ(search.tokens->ends, (std::vector<int>{7, 8}));
  EXPECT_EQ(search.tokens->pad, config.tokens.pad);
}

TEST(GenerationOptions, OfATextAreGreedyUnlessTheFileSamples) {
  GenerationConfig generation{.beam_size = 1, .rules = SearchRules::transformers};
  generation.temperature = 0.7;
  generation.token_rules.repetition_penalty = 1.2;
  generation.token_rules.min_new_tokens = 3;
  GenerationOptions options = generation_options(generation, config);
  EXPECT_EQ(options.sampling.temperature, 0);
  EXPECT_EQ(options.sampling.top_k, 0);
  EXPECT_EQ(options.sampling.repetition_penalty, 1.2);
  EXPECT_EQ(options.token_rules, models::TokenRules{.min_new_tokens = 3});
  generation.do_sample = true;
  options = generation_options(generation, config);
  EXPECT_EQ(options.sampling.temperature, 0.7);
  EXPECT_EQ(options.sampling.top_k, 50);
}

TEST(GenerationOptions, ALimitOfTheWholeLengthIsKeptAsOne) {
  GenerationConfig generation{.beam_size = 1, .rules = SearchRules::transformers};
  EXPECT_EQ(generation_options(generation, config).max_tokens, 256);
  generation.max_length = 20;
  EXPECT_EQ(generation_options(generation, config).max_length, 20);
  generation.max_new_tokens = 5;
  EXPECT_EQ(generation_options(generation, config).max_length, 0);
  EXPECT_EQ(generation_options(generation, config).max_tokens, 5);
}

TEST(GenerationOptions, SamplingWithBeamsIsRefusedByName) {
  GenerationConfig generation{.beam_size = 4, .rules = SearchRules::transformers};
  generation.do_sample = true;
  expect_error(ErrorKind::model,
               "generation_config.json: do_sample: expected false, for beam search, found true",
               [&] { search_options(generation, config); });
  expect_error(ErrorKind::model,
               "generation_config.json: num_beams: expected 1 with do_sample, found 4",
               [&] { generation_options(generation, config); });
}

}  // namespace
}  // namespace heed::infer
