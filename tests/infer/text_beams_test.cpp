#include "heed/infer/text_beams.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/infer/beam_search.h"
#include "heed/ops/softmax.h"
#include "infer/memorised_generator.h"
#include "models/small_models.h"
#include "support/expect_error.h"
#include "support/same_bits.h"

namespace heed::infer {
namespace {

using models::LanguageModel;
using Ids = std::vector<int>;

models::TransformerConfig tiny_config() {
  models::TransformerConfig config = models::small_config(models::ModelKind::language);
  config.vocabulary = 6;
  return config;
}

const LanguageModel& tiny_model() {
  static const LanguageModel model(tiny_config(), 5);
  return model;
}

BeamSearchOptions by_transformers(Index beam_size, Index n_best = 1) {
  BeamSearchOptions options{.beam_size = beam_size, .n_best = n_best};
  options.rules = models::SearchRules::transformers;
  return options;
}

// log p of every next token after the ids, without any cache.
std::vector<float> next_log_probabilities(const Ids& ids) {
  const NoGrad no_grad;
  auto context = nn::ForwardContext::inference();
  const Tensor hidden = tiny_model().hidden({ids, Spans::single(std::ssize(ids))}, context);
  const Tensor all = ops::log_softmax(tiny_model().logits(hidden));
  return values_of(rows_of(all, std::ssize(ids) - 1, 1));
}

// Every continuation of at most max_length tokens, the end counted.
void enumerate(const Ids& prompt, const Hypothesis& so_far, Index max_length,
               std::vector<Hypothesis>& found) {
  const Index length = std::ssize(so_far.ids);
  const auto add = [&](const Ids& ids, double score, Index tokens) {
    found.push_back({ids, score, score / static_cast<double>(tokens)});
  };
  if (length == max_length) return add(so_far.ids, so_far.score, length);
  Ids read = prompt;
  read.insert(read.end(), so_far.ids.begin(), so_far.ids.end());
  const std::vector<float> scores = next_log_probabilities(read);
  for (int token = 0; token < 6; ++token) {
    Hypothesis longer = so_far;
    longer.score += scores[static_cast<std::size_t>(token)];
    if (token == text::own_tokens::end) {
      add(so_far.ids, longer.score, length + 1);
    } else {
      longer.ids.push_back(token);
      enumerate(prompt, longer, max_length, found);
    }
  }
}

TEST(TextBeams, ABeamThatHoldsEverythingFindsTheBestOfAllContinuations) {
  const Ids prompt{4, 5, 4};
  std::vector<Hypothesis> expected;
  enumerate(prompt, {}, 3, expected);
  std::ranges::stable_sort(expected, std::greater{}, &Hypothesis::normalised_score);
  const std::vector<Index> limits{3};
  BeamSearchOptions options = by_transformers(200, 8);
  options.early_stopping = models::EarlyStopping::never;
  const auto found =
      beam_search(tiny_model(), models::pack(std::vector<Ids>{prompt}), options, limits);
  ASSERT_EQ(found[0].size(), 8u);
  for (std::size_t rank = 0; rank < 8; ++rank) {
    EXPECT_EQ(found[0][rank].ids, expected[rank].ids) << rank;
    EXPECT_EQ(found[0][rank].normalised_score, expected[rank].normalised_score) << rank;
  }
}

TEST(TextBeams, APromptIsContinuedAloneAsAmongOthers) {
  const std::vector<Ids> prompts{{4}, {5, 4, 4, 5, 2, 1}, {5, 5}};
  const std::vector<Index> limits{7, 4, 9};
  const auto all = beam_search(tiny_model(), models::pack(prompts), by_transformers(3, 3), limits);
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const auto alone = beam_search(tiny_model(), models::pack(std::vector<Ids>{prompts[i]}),
                                   by_transformers(3, 3), std::span(limits).subspan(i, 1));
    ASSERT_EQ(all[i].size(), alone[0].size());
    for (std::size_t rank = 0; rank < alone[0].size(); ++rank) {
      EXPECT_EQ(all[i][rank].ids, alone[0][rank].ids);
      EXPECT_EQ(all[i][rank].score, alone[0][rank].score);
    }
  }
}

TEST(TextBeams, APromptCountsForPenaltiesAndNgrams) {
  const Ids prompt{4, 5, 4};
  BeamSearchOptions options = by_transformers(3);
  options.token_rules.no_repeat_ngram = 1;
  const std::vector<Index> limits{3};
  const auto found =
      beam_search(tiny_model(), models::pack(std::vector<Ids>{prompt}), options, limits);
  for (const int token : found[0][0].ids) EXPECT_TRUE(token < 4) << token;
}

TEST(TextBeams, StayWithinThePositionsOfTheModel) {
  const Ids prompt(62, 4);
  BeamSearchOptions options = by_transformers(2);
  options.token_rules.suppressed = {text::own_tokens::end};
  const std::vector<Index> limits{50};
  const auto found =
      beam_search(tiny_model(), models::pack(std::vector<Ids>{prompt}), options, limits);
  EXPECT_EQ(found[0][0].ids.size(), 3u);  // 64 tokens are read, and one more is known then
}

const TextGenerator& rhyme_generator() {
  static const TextGenerator generator(models::pack(rhyme_model().model), rhyme_model().tokenizer);
  return generator;
}

std::vector<GeneratedText> texts(const GenerationOptions& options) {
  const std::vector<std::string> prompts{"the bat sat in", "the cat sat on"};
  return rhyme_generator().generate(prompts, options);
}

TEST(TextBeams, FindWhatTheModelKnowsByHeart) {
  std::string streamed;
  const std::vector<std::string> prompts{"the bat sat in"};
  const auto found = rhyme_generator().generate(
      prompts, {.sampling = {.temperature = 0}, .max_tokens = 7, .beam_size = 3},
      [&](std::size_t, std::string_view part) { streamed += part; });
  EXPECT_EQ(found[0].text, " a cave");
  EXPECT_EQ(found[0].tokens.size(), 7u);
  EXPECT_EQ(found[0].ending, Ending::length);
  EXPECT_EQ(streamed, " a cave");
}

TEST(TextBeams, GiveTheBestTextsOfEachPromptBestFirst) {
  const auto found =
      texts({.sampling = {.temperature = 0}, .max_tokens = 5, .num_samples = 2, .beam_size = 4});
  ASSERT_EQ(found.size(), 4u);
  const auto score = [](const GeneratedText& text) {
    double sum = 0;
    for (const TokenScore& token : text.tokens) sum += token.log_probability;
    return sum / static_cast<double>(text.tokens.size());
  };
  EXPECT_EQ(found[0].text, " a ca");
  EXPECT_EQ(found[2].text, " a ma");
  for (const std::size_t first : {0u, 2u}) {
    EXPECT_NE(found[first].text, found[first + 1].text);
    EXPECT_GE(score(found[first]), score(found[first + 1]));
  }
}

TEST(TextBeams, EndBeforeAStopTextAndNeverHoldForbiddenWords) {
  GenerationOptions options{.sampling = {.temperature = 0}, .max_tokens = 12, .beam_size = 3};
  options.stop = {"v"};
  EXPECT_EQ(texts(options)[0].text, " a ca");
  EXPECT_EQ(texts(options)[0].ending, Ending::stop_text);
  options.stop = {};
  const std::vector<std::string> words{"in a"};  // starts in the prompt
  options.constraints = Constraints::of_words(words, {}, rhyme_generator().tokenizer());
  EXPECT_EQ(texts(options)[0].text.find(" a"), std::string::npos);
}

TEST(TextBeams, RefuseToSample) {
  expect_error(ErrorKind::usage, "`beam_size`: expected 1 with sampling, found 3",
               [] { texts({.sampling = {.temperature = 0.5}, .beam_size = 3}); });
}

}  // namespace
}  // namespace heed::infer
