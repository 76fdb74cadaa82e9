#include "heed/explore/attribution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "explore/toy_sessions.h"
#include "heed/base/error.h"
#include "heed/explore/answer.h"
#include "heed/infer/scoring.h"

namespace heed::explore {
namespace {

const nn::Interventions no_interventions;

PassInput translation_input(const std::string& line) {
  return {.source = source_ids(*toy_translation(), line),
          .target = target_inputs(*toy_translation(), answer(*toy_translation(), line))};
}

// Random weights and no tables in common, so that a token's vector is in one place only.
template <typename Model>
Model untied_model(models::TransformerConfig config) {
  config.tying = models::Tying::none;
  return Model(config, 7);
}

// d log p / d s at s = 0, when the token's row of the table is multiplied by 1 + s.
template <typename Model>
double slope(const Model& model, const text::Tokenizer& tokenizer, const std::string& table,
             int token, const Prediction& prediction) {
  constexpr double step = 0.02;
  double ends[2];
  for (const int side : {0, 1}) {
    Model moved = untied_model<Model>(model.config());  // its own values
    for (nn::NamedTensor& parameter : nn::named_parameters(moved)) {
      if (parameter.name != table) continue;
      const Index width = parameter.value.dim(1);
      for (float& value : parameter.value.values().subspan(token * width, width)) {
        value *= static_cast<float>(side == 0 ? 1 - step : 1 + step);
      }
    }
    ends[side] = log_probability(*session_of(moved, tokenizer), prediction, no_interventions);
  }
  return (ends[1] - ends[0]) / (2 * step);
}

// Every token of the source stands there once.
template <typename Model>
void expect_matches_slopes(const Model& model, const text::Tokenizer& tokenizer,
                           const std::string& table, const PassInput& input, Index place) {
  const SharedSession session = session_of(model, tokenizer);
  const Attribution found = attribution(*session, input, no_interventions, {.place = place});
  double largest = 0;
  for (const TokenAttribution& one : found.inputs) {
    const double expected = slope(model, tokenizer, table, one.token, found.prediction);
    EXPECT_NEAR(one.gradient_x_input.value(), expected, 2e-3) << tokenizer.piece(one.token);
    largest = std::max(largest, std::abs(expected));
  }
  EXPECT_GT(largest, 0.05);  // there is something to be right about
}

TEST(Attribution, GradientTimesInputIsTheSlopeOfTheLogProbability) {
  const models::TranslationModelFolder& folder = infer::word_by_word_model();
  expect_matches_slopes(untied_model<models::TranslationModel>(folder.model.config()),
                        folder.tokenizer, "source_embedding.weight",
                        translation_input("three one four"), 1);
}

TEST(Attribution, GradientTimesInputIsRightForLanguageModelsClassifiersAndTaggers) {
  const models::LanguageModelFolder& generator = infer::rhyme_model();
  expect_matches_slopes(untied_model<models::LanguageModel>(generator.model.config()),
                        generator.tokenizer, "embedding.weight",
                        {.source = source_ids(*toy_language(), "the bas"), .target = {}}, 6);
  const models::ClassifierFolder& classifier = infer::toy_classifier();
  expect_matches_slopes(untied_model<models::Classifier>(classifier.model.config()),
                        classifier.tokenizer, "embedding.weight",
                        {.source = source_ids(*toy_classifier(), "the red in"), .target = {}}, 2);
  const models::TaggerFolder& tagger = infer::toy_tagger();
  expect_matches_slopes(
      untied_model<models::Tagger>(tagger.model.config()), tagger.tokenizer, "embedding.weight",
      {.source = source_ids(*toy_tagger(), "of the green hill"), .target = {}}, 2);
}

TEST(Attribution, LeaveOneOutOfATranslatorIsTheDifferenceOfTwoScorings) {
  const infer::PairScorer scorer(*toy_translation()->translation(), toy_translation()->tokenizer());
  const auto score = [&](const std::string& source, std::size_t token) {
    const std::string target = "eins zwei drei";
    const auto scored = scorer.score(std::span(&source, 1), std::span(&target, 1));
    return double{scored.front().tokens[token].log_probability};
  };
  for (const Index place : {0, 1, 3}) {
    const Attribution found = attribution(*toy_translation(), translation_input("one two three"),
                                          no_interventions, {.place = place});
    ASSERT_EQ(found.inputs.size(), 4u);
    const double with = score("one two three", place);
    EXPECT_EQ(found.log_probability, with);
    EXPECT_EQ(found.inputs[0].leave_one_out, with - score("two three", place));
    EXPECT_EQ(found.inputs[1].leave_one_out, with - score("one three", place));
    EXPECT_EQ(found.inputs[2].leave_one_out, with - score("one two", place));
  }
}

TEST(Attribution, TheWordThatATokenTranslatesIsItsCause) {
  const Attribution found = attribution(*toy_translation(), translation_input("one two three"),
                                        no_interventions, {.place = 1});
  EXPECT_EQ(toy_translation()->tokenizer().piece(found.prediction.token), "▁zwei");
  for (const std::size_t other : {0, 2}) {
    EXPECT_GT(*found.inputs[1].leave_one_out, *found.inputs[other].leave_one_out);
    EXPECT_GT(found.inputs[1].attention, found.inputs[other].attention);
  }
}

TEST(Attribution, LeaveOneOutOfALanguageModelIsTheDifferenceOfTwoScorings) {
  const ModelSession& session = *toy_language();
  const infer::LineScorer scorer(*session.language(), session.tokenizer());
  const auto score = [&](const std::string& line, std::size_t token) {
    return double{scorer.score(std::span(&line, 1)).front().tokens[token].log_probability};
  };
  const PassInput input{.source = source_ids(session, "\nthe bat"), .target = {}};
  const Attribution found = attribution(session, input, no_interventions, {.place = 5});
  EXPECT_EQ(found.prediction.token, input.source[6]);  // the a of bat
  ASSERT_EQ(found.inputs.size(), 6u);                  // later ones are no inputs
  EXPECT_EQ(found.log_probability, score("the ba", 5));
  EXPECT_EQ(found.inputs[1].leave_one_out, score("the ba", 5) - score("he ba", 4));
  EXPECT_EQ(found.inputs[5].leave_one_out, score("the ba", 5) - score("the a", 4));
}

TEST(Attribution, LeaveOneOutOfAClassifierIsTheDifferenceOfTwoAnswers) {
  const ModelSession& session = *toy_classifier();
  const auto probability = [&](const std::string& line, int of_class) {
    for (const auto& one : answer(session, line).classes) {
      if (one.of_class == of_class) return one.probability;
    }
    return 0.0;
  };
  const PassInput input{.source = source_ids(session, "a red the"), .target = {}};
  for (const int of_class : {0, 1, 2}) {
    const Attribution found = attribution(session, input, no_interventions, {.place = of_class});
    EXPECT_EQ(found.prediction.token, of_class);
    EXPECT_EQ(std::exp(found.log_probability), probability("a red the", of_class));
    EXPECT_NEAR(*found.inputs[1].leave_one_out,
                std::log(probability("a red the", of_class) / probability("a the", of_class)),
                1e-9);
  }
}

TEST(Attribution, AClassifiersBeginTokenIsAnInputThatCannotBeLeftOut) {
  models::TransformerConfig config = infer::toy_classifier().model.config();
  config.pooling = models::Pooling::first;
  const SharedSession session =
      session_of(models::Classifier(config, 3), infer::toy_classifier().tokenizer);
  const PassInput input{.source = source_ids(*session, "a red the"), .target = {}};
  const Attribution found = attribution(*session, input, no_interventions, {.place = 1});
  ASSERT_EQ(found.inputs.size(), 5u);
  EXPECT_EQ(found.inputs[0].token, text::Tokenizer::begin);
  EXPECT_FALSE(found.inputs[0].leave_one_out);
  EXPECT_TRUE(found.inputs[0].gradient_x_input);
  const Recording recording(session, input);
  const Tensor weights = recording.view("encoder.0.self_attention").weights;  // [2, 5, 5]
  for (Index key = 0; key < 5; ++key) {
    EXPECT_NEAR(found.inputs[key].attention, (weights.data()[key] + weights.data()[25 + key]) / 2,
                1e-7);
  }
}

TEST(Attribution, AttentionIsTheMeanOverTheHeadsOfTheLastLayer) {
  const SharedSession& session = toy_translation();
  const PassInput input = translation_input("one two three");
  const Attribution found = attribution(*session, input, no_interventions, {.place = 2});
  const Tensor weights =
      Recording(session, input).view("decoder.0.cross_attention").weights;  // [2, 4, 4]
  for (Index key = 0; key < 4; ++key) {
    const double mean = (double{weights.data()[8 + key]} + weights.data()[24 + key]) / 2;
    EXPECT_EQ(found.inputs[key].attention, mean);
  }
}

TEST(Attribution, AMaskIsExplainedByItsLine) {
  const ModelSession& session = *toy_masked();
  const PassInput input{.source = source_ids(session, "the <mask> in"), .target = {}};
  const Attribution found = attribution(session, input, no_interventions, {.place = 0});
  EXPECT_EQ(found.prediction.row, 1);
  EXPECT_FALSE(found.inputs[1].leave_one_out);
  const PassInput without{.source = source_ids(session, "<mask> in"), .target = {}};
  EXPECT_EQ(found.inputs[0].leave_one_out,
            found.log_probability -
                log_probability(session, {without, 0, found.prediction.token}, no_interventions));
  EXPECT_THROW(attribution(session, input, no_interventions, {.place = 1}), Error);
}

TEST(Attribution, ATagIsExplainedByTheOtherWords) {
  const PassInput input{.source = source_ids(*toy_tagger(), "in the green hill"), .target = {}};
  const Attribution found =
      attribution(*toy_tagger(), input, no_interventions, {.place = 1, .token = std::nullopt});
  EXPECT_EQ(to_json(found, *toy_tagger())["predicted"]["piece"], "B-PLACE");
  EXPECT_FALSE(found.inputs[1].leave_one_out);
  const Prediction alone{{.source = source_ids(*toy_tagger(), "the green hill"), .target = {}},
                         0,
                         found.prediction.token};
  EXPECT_EQ(found.inputs[0].leave_one_out,
            found.log_probability - log_probability(*toy_tagger(), alone, no_interventions));
  EXPECT_THROW(attribution(*toy_tagger(), input, no_interventions, {.place = 5}), Error);
  EXPECT_THROW(attribution(*toy_tagger(), input, no_interventions, {.place = 1, .token = 4}),
               Error);
}

TEST(Attribution, IsThatOfTheChangedModel) {
  nn::Interventions interventions;
  interventions.knockouts = {{"decoder.0.cross_attention", std::nullopt, 1, 1}};
  const Attribution found = attribution(*toy_translation(), translation_input("one two three"),
                                        interventions, {.place = 1});
  EXPECT_EQ(found.inputs[1].attention, 0);
  const PredictionTarget same{.place = 1, .token = found.prediction.token};
  EXPECT_NE(
      found.log_probability,
      attribution(*toy_translation(), translation_input("one two three"), no_interventions, same)
          .log_probability);
  // With the first word gone, the second is the one that must not be seen.
  nn::Interventions moved;
  moved.knockouts = {{"decoder.0.cross_attention", std::nullopt, 1, 0}};
  Prediction without = found.prediction;
  without.input.source.erase(without.input.source.begin());
  EXPECT_EQ(found.inputs[0].leave_one_out,
            found.log_probability - log_probability(*toy_translation(), without, moved));
}

TEST(Attribution, LinksMoveUpWithTheirTokens) {
  nn::Interventions interventions;
  interventions.scales = {{"encoder.0.self_attention", 1, 0}};
  interventions.knockouts = {{"encoder.0.self_attention", 0, 0, 2},
                             {"encoder.0.self_attention", 0, 1, 2},
                             {"decoder.0.self_attention", 0, 2, 1},
                             {"decoder.0.cross_attention", 0, 3, 3}};
  const nn::Interventions moved = without_token(interventions, *toy_translation(), 1);
  EXPECT_EQ(moved.scales.size(), 1u);
  ASSERT_EQ(moved.knockouts.size(), 3u);
  EXPECT_EQ(moved.knockouts[0].query, 0);
  EXPECT_EQ(moved.knockouts[0].key, 1);
  EXPECT_EQ(moved.knockouts[1].query, 2);  // of the target, which stays
  EXPECT_EQ(moved.knockouts[1].key, 1);
  EXPECT_EQ(moved.knockouts[2].query, 3);
  EXPECT_EQ(moved.knockouts[2].key, 2);
}

TEST(Attribution, AModelInFewerBitsHasNoGradient) {
  const TemporaryFolder folder;
  models::save_model_folder(folder.path(), infer::word_by_word_model().model,
                            infer::word_by_word_model().tokenizer, {}, models::WeightFormat::f16);
  const ModelSession session(folder.path());
  const Attribution found =
      attribution(session, translation_input("one two"), no_interventions, {.place = 0});
  EXPECT_FALSE(found.inputs[0].gradient_x_input);
  EXPECT_TRUE(found.inputs[0].leave_one_out);
  EXPECT_EQ(to_json(found, session)["inputs"][0]["gradient_x_input"], nullptr);
}

TEST(Attribution, RefusesPlacesAndTokensThatAreNotThere) {
  const PassInput input = translation_input("one");
  for (const PredictionTarget target :
       {PredictionTarget{-1}, PredictionTarget{2}, PredictionTarget{0, 1000},
        PredictionTarget{0, (Index{1} << 32) + 1}}) {  // 1 in 32 bits
    EXPECT_THROW(attribution(*toy_translation(), input, no_interventions, target), Error);
  }
  const PassInput line{.source = source_ids(*toy_classifier(), "red"), .target = {}};
  EXPECT_THROW(attribution(*toy_classifier(), line, no_interventions, {.place = 3}), Error);
}

TEST(Attribution, ALongTextIsNotReadAgainForEveryToken) {
  PassInput input = translation_input("one");
  input.source.insert(input.source.begin(), max_left_out, input.source[0]);
  const Attribution found = attribution(*toy_translation(), input, no_interventions, {.place = 0});
  EXPECT_FALSE(found.inputs[0].leave_one_out);
  EXPECT_TRUE(found.inputs[0].gradient_x_input);
}

TEST(Attribution, IsWrittenWithTheQueriesOfItsAttention) {
  const ModelSession& session = *toy_translation();
  const auto written = to_json(
      attribution(session, translation_input("one two"), no_interventions, {.place = 1}), session);
  EXPECT_EQ(written["predicted"]["piece"], "▁zwei");
  EXPECT_GT(written["predicted"]["probability"], 0.5);
  EXPECT_EQ(written["inputs"][0]["piece"], "▁one");
  for (const char* column : {"attention", "gradient_x_input", "leave_one_out"}) {
    EXPECT_TRUE(written["inputs"][0][column].is_number()) << column;
  }
  EXPECT_EQ(written["attention_from"], "decoder");
}

}  // namespace
}  // namespace heed::explore
