#include "heed/explore/what_if.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "explore/small_folders.h"
#include "explore/toy_sessions.h"
#include "heed/base/cancellation.h"
#include "support/expect_error.h"

namespace heed::explore {
namespace {

const nn::Interventions no_interventions;
const std::string not_finite =
    "outcome: expected finite scores of the model, found NaN or infinity (an intervention is too "
    "large, or the weights are damaged)";

struct Case {
  const char* name;
  const SharedSession& (*session)();
  std::string text;
  std::string edited_text;
  std::string site;  // of an attention layer that matters
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

class WhatIfOfAllKinds : public testing::TestWithParam<Case> {
 protected:
  const ModelSession& session() const { return *GetParam().session(); }
  // What an answer says, to the last bit.
  std::string written(const Answer& answer) const { return to_json(answer, session()).dump(); }
};

TEST_P(WhatIfOfAllKinds, WithoutChangesBothSidesAreTheSameToTheBit) {
  const std::string& text = GetParam().text;
  const WhatIf found = what_if(session(), {text, text, no_interventions});
  EXPECT_EQ(written(found.before), written(answer(session(), text)));
  EXPECT_EQ(written(found.before), written(found.after));
  EXPECT_FALSE(found.pieces.empty());
  for (const TeacherForcedPiece& piece : found.pieces) EXPECT_EQ(piece.before, piece.after);
}

TEST_P(WhatIfOfAllKinds, AHeadThatIsSwitchedOffChangesTheProbabilities) {
  nn::Interventions interventions;
  interventions.scales = {{GetParam().site, 0, 0}};
  const std::string& text = GetParam().text;
  const WhatIf found = what_if(session(), {text, text, interventions});
  EXPECT_EQ(written(found.before), written(answer(session(), text)));
  EXPECT_EQ(written(found.after),
            written(answer(session(), text, {.interventions = &interventions})));
  for (const TeacherForcedPiece& piece : found.pieces)
    EXPECT_NE(piece.before, piece.after) << piece.piece;
}

TEST_P(WhatIfOfAllKinds, AnOutcomeThatIsNoNumberIsRefused) {
  nn::Interventions interventions;
  interventions.scales = {{GetParam().site, 0, 3e38f}, {GetParam().site, 1, -3e38f}};
  const std::string& text = GetParam().text;
  expect_error(ErrorKind::data, not_finite, [&] {
    what_if(session(), {text, text, interventions});
  });
}

TEST_P(WhatIfOfAllKinds, CanBeCancelled) {
  std::stop_source source;
  source.request_stop();
  const CancellationScope scope([&source] { return source.stop_requested(); });
  EXPECT_THROW(what_if(session(), {GetParam().text, GetParam().text, no_interventions}), Cancelled);
}

TEST_P(WhatIfOfAllKinds, AnotherWordIsTheSameAsAnotherSentence) {
  const WhatIf found =
      what_if(session(), {GetParam().text, GetParam().edited_text, no_interventions});
  EXPECT_EQ(written(found.after), written(answer(session(), GetParam().edited_text)));
  EXPECT_NE(written(found.before), written(found.after));
}

INSTANTIATE_TEST_SUITE_P(Kinds, WhatIfOfAllKinds,
                         testing::Values(Case{"translation", toy_translation, "one two three",
                                              "one four three", "decoder.0.cross_attention"},
                                         Case{"language", toy_language, "the bat s", "the cat s",
                                              "decoder.1.self_attention"},
                                         Case{"classifier", toy_classifier, "the red in",
                                              "the blue in", "encoder.0.self_attention"},
                                         Case{"masked", toy_masked, "the <mask> in", "a <mask> in",
                                              "encoder.0.self_attention"}),
                         [](const auto& info) { return info.param.name; });

TEST(WhatIf, TheForcedTokensAreThoseOfTheFirstAnswerWithItsProbabilities) {
  nn::Interventions interventions;
  interventions.scales = {{"decoder.0.cross_attention", 0, 0}, {"decoder.0.cross_attention", 1, 0}};
  const WhatIf found = what_if(*toy_translation(), {"one two", "one two", interventions});
  ASSERT_EQ(found.pieces.size(), found.before.tokens.size());
  for (std::size_t i = 0; i < found.pieces.size(); ++i) {
    const infer::TokenScore& token = found.before.tokens[i];
    EXPECT_EQ(found.pieces[i].piece, toy_translation()->tokenizer().piece(token.token));
    EXPECT_EQ(found.pieces[i].before, std::exp(double{token.log_probability}));
  }
  EXPECT_LT(found.pieces[0].after, 0.9 * found.pieces[0].before);  // it cannot see the source
}

TEST(WhatIf, OfAWriterHasWhatFitsIntoItsContext) {
  const std::string prompt = "the cat sat on a ma";  // 19 of 24 tokens
  const WhatIf found = what_if(*toy_language(), {prompt, prompt + "t", no_interventions});
  ASSERT_EQ(found.pieces.size(), 5u);
  for (std::size_t i = 0; i < found.pieces.size(); ++i) {
    EXPECT_EQ(found.pieces[i].before, std::exp(double{found.before.tokens[i].log_probability}));
  }
}

TEST(WhatIf, AWordThatNoMaskCanHaveHasNoChance) {
  const WhatIf found =
      what_if(*toy_masked(), {"the <mask> in", "the <mask> <mask>", no_interventions});
  ASSERT_EQ(found.pieces.size(), 1u);
  EXPECT_GT(found.pieces[0].after, 0);
  EXPECT_EQ(found.after.masks.size(), 2u);
}

TEST(WhatIf, OfATaggerIsTheTagOfEachWordThatIsStillThere) {
  const WhatIf found = what_if(*toy_tagger(), {"in the green hill", "in red", no_interventions});
  ASSERT_EQ(found.pieces.size(), 2u);
  EXPECT_EQ(found.pieces[0].piece, "in O");
  EXPECT_EQ(found.pieces[1].piece, "the B-PLACE");
  EXPECT_NEAR(found.pieces[1].before, found.before.words[1].probability, 1e-6);
  EXPECT_LT(found.pieces[1].after, found.pieces[1].before);
  EXPECT_EQ(found.after.words.back().tag, "B-COLOUR");
}

// Such a model is refused, when it is loaded or when it answers.
template <typename Model>
void expect_no_answer_of_damaged(models::ModelKind kind, const std::string& text) {
  EXPECT_THROW(
      {
        const SmallFolder folder(kind);
        Model model = models::load_model<Model>(folder.path());
        for (nn::NamedTensor& parameter : nn::named_parameters(model)) {
          parameter.value.values()[0] = std::nanf("");
        }
        const SharedSession session = session_of(model, folder.tokenizer());
        what_if(*session, {text, text, no_interventions});
      },
      Error);
}

TEST(WhatIf, OfADamagedModelIsRefused) {
  expect_no_answer_of_damaged<models::MaskedModel>(models::ModelKind::masked, "the <mask>");
  expect_no_answer_of_damaged<models::Classifier>(models::ModelKind::classifier, "the bat");
  expect_no_answer_of_damaged<models::Tagger>(models::ModelKind::tagger, "the bat");
  expect_no_answer_of_damaged<models::LanguageModel>(models::ModelKind::language, "the bat");
  expect_no_answer_of_damaged<models::TranslationModel>(models::ModelKind::translation, "the bat");
}

TEST(WhatIf, IsWrittenAsTheContractSays) {
  const auto written = to_json(
      what_if(*toy_classifier(), {"the red", "the blue", no_interventions}), *toy_classifier());
  EXPECT_EQ(written["before"]["classes"][0]["label"], "warm");
  EXPECT_EQ(written["after"]["classes"][0]["label"], "cold");
  EXPECT_EQ(written["tokens"][0]["piece"], "warm");
  EXPECT_EQ(written["tokens"][0]["position"], 0);
  EXPECT_LT(written["tokens"][0]["after"], written["tokens"][0]["before"]);
}

}  // namespace
}  // namespace heed::explore
