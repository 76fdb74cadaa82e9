#include "heed/explore/answer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "explore/toy_sessions.h"
#include "heed/base/error.h"
#include "heed/explore/recording.h"

namespace heed::explore {
namespace {

using nlohmann::json;

TEST(Answer, OfATranslatorIsItsTranslation) {
  const ModelSession& session = *toy_translation();
  const std::string line = "one two three";
  const auto expected = session.translator()->translate(std::span(&line, 1)).front().best.front();
  const Answer found = answer(session, line);
  EXPECT_EQ(found.text, "eins zwei drei");
  EXPECT_EQ(found.text, expected.text);
  EXPECT_EQ(found.score, expected.score);
  ASSERT_EQ(found.tokens.size(), 4u);
  for (std::size_t i = 0; i < found.tokens.size(); ++i) {
    EXPECT_EQ(found.tokens[i].log_probability, expected.tokens[i].log_probability);
  }
  const json written = to_json(found, session);
  EXPECT_EQ(written["text"], "eins zwei drei");
  EXPECT_EQ(written["score"], expected.score);
  EXPECT_EQ(written["tokens"][3]["piece"], "</s>");

  const std::vector<int> read = target_inputs(*toy_translation(), found);
  ASSERT_EQ(read.size(), 4u);
  EXPECT_EQ(read[0], text::Tokenizer::end);
  EXPECT_EQ(session.tokenizer().decode(read), "eins zwei drei");
}

TEST(Answer, TheBeamCanBeChosen) {
  const std::string line = "four four two";
  infer::TranslationOptions greedy{.search = toy_translation()->translator()->default_search()};
  greedy.search.beam_size = 1;
  EXPECT_EQ(
      answer(*toy_translation(), line, {.beam_size = 1}).score,
      toy_translation()->translator()->translate(std::span(&line, 1), greedy)[0].best[0].score);
}

TEST(Answer, OfAWriterIsWhatItWritesAndWhatMayFollow) {
  const ModelSession& session = *toy_language();
  const Answer found = answer(session, "the bat s");
  EXPECT_EQ(found.text.substr(0, 12), "at in a cave");
  ASSERT_EQ(found.next.size(), 20u);
  EXPECT_EQ(session.tokenizer().piece(found.next[0].token), "a");
  EXPECT_EQ(found.next[0].log_probability, found.tokens[0].log_probability);
  EXPECT_GT(found.next[0].log_probability, found.next[1].log_probability);
  EXPECT_EQ(to_json(found, session)["next"][0]["id"], found.next[0].token);
}

TEST(Answer, OfAClassifierIsAllItsClasses) {
  const ModelSession& session = *toy_classifier();
  const json found = to_json(answer(session, "the red"), session)["classes"];
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0]["label"], "warm");
  EXPECT_GT(found[0]["probability"], found[1]["probability"]);
}

TEST(Answer, OfAMaskedModelIsTheWordsOfItsMasks) {
  const ModelSession& session = *toy_masked();
  const std::string line = "the <mask> in";
  const auto expected = session.fill_mask()->fill(std::span(&line, 1), "<mask>", 1).front();
  const json found = to_json(answer(session, line), session)["masks"];
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0][0]["piece"], expected[0][0].word);
  EXPECT_EQ(found[0][0]["probability"], expected[0][0].probability);
}

TEST(Answer, OfATaggerIsTheTagsOfTheWords) {
  const ModelSession& session = *toy_tagger();
  const json found = to_json(answer(session, "in the green  hill"), session)["words"];
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[3]["word"], "hill");
  EXPECT_EQ(found[3]["tag"], "I-PLACE");
  EXPECT_EQ(found[3]["position"], 3);
  EXPECT_EQ(source_ids(session, "in the green  hill").size(), 5u);
}

TEST(Answer, AHeadThatIsSwitchedOffChangesIt) {
  nn::Interventions interventions;
  EXPECT_EQ(answer(*toy_translation(), "one two", {.interventions = &interventions}).score,
            answer(*toy_translation(), "one two").score);
  interventions.scales = {{"decoder.0.cross_attention", 0, 0}, {"decoder.0.cross_attention", 1, 0}};
  EXPECT_NE(answer(*toy_translation(), "one two", {.interventions = &interventions}).score,
            answer(*toy_translation(), "one two").score);
}

TEST(SourceIds, AreWhatTheModelReads) {
  const int end = text::Tokenizer::end;
  EXPECT_EQ(source_ids(*toy_translation(), "one two").back(), end);
  EXPECT_EQ(source_ids(*toy_translation(), "one two").size(), 3u);
  EXPECT_EQ(source_ids(*toy_language(), "the"), toy_language()->tokenizer().encode("the"));
  EXPECT_EQ(source_ids(*toy_language(), ""), toy_language()->tokenizer().encode("\n"));
  EXPECT_EQ(source_ids(*toy_masked(), "the <mask>")[1], toy_masked()->tokenizer().mask());
}

TEST(SourceIds, RefuseWhatTheModelCannotAnswer) {
  EXPECT_THROW(source_ids(*toy_translation(), " "), Error);
  EXPECT_THROW(source_ids(*toy_classifier(), ""), Error);
  EXPECT_THROW(source_ids(*toy_masked(), "the red"), Error);
  EXPECT_THROW(source_ids(*toy_language(), "\xff"), Error);
  EXPECT_THROW(source_ids(*toy_language(), std::string(5000, 'a')), Error);
  EXPECT_THROW(source_ids(*toy_language(), std::string(2000, 'a')), Error);
}

TEST(Answer, OfOtherClassifiersIsRefused) {
  const auto refusal = [](const models::ClassifierFolder& folder) {
    const SharedSession session = session_of(folder.model, folder.tokenizer);
    try {
      answer(*session, "the red");
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_THROW(source_ids(*session, "the red"), Error);
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const std::string expected = "explore: expected a classifier of ";
  EXPECT_EQ(refusal(infer::toy_label_sets()),
            expected + "one label for each text, found multi_label_classification");
  EXPECT_EQ(refusal(infer::toy_numbers()), expected + "one label for each text, found regression");
  EXPECT_EQ(refusal(infer::toy_pairs()), expected + "single texts, found one of pairs of texts");
}

}  // namespace
}  // namespace heed::explore
