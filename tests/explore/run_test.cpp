#include "heed/explore/run.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "explore/small_folders.h"
#include "heed/cli/classify_command.h"
#include "heed/cli/fill_command.h"
#include "heed/cli/generate_command.h"
#include "heed/cli/translate_command.h"
#include "heed/explore/answer.h"
#include "heed/infer/top_tokens.h"
#include "support/expect_error.h"
#include "support/same_bits.h"

namespace heed::explore {
namespace {

using models::ModelKind;
using nlohmann::json;
using nlohmann::ordered_json;

const std::string sentence = "the bat sleeps in the cave";

// What a command prints for one line.
template <typename Command>
std::string printed(Command command, const std::string& line) {
  std::istringstream in(line + '\n');
  std::ostringstream out;
  command(in, out);
  std::string text = out.str();
  text.pop_back();  // the end of the line
  return text;
}

void expect_same_tokens(const ordered_json& shown, const ordered_json& printed) {
  ASSERT_EQ(shown.size(), printed.size());
  for (std::size_t i = 0; i < shown.size(); ++i) {
    EXPECT_EQ(shown[i]["piece"], printed[i]["piece"]);
    EXPECT_EQ(shown[i]["log_probability"], printed[i]["log_probability"]);
  }
}

TEST(Run, TranslatesAsTheCommandLineDoes) {
  const SmallFolder folder;
  ExplorerState state = folder.state();
  for (const std::optional<Index> beam : {std::optional<Index>(), std::optional<Index>(1)}) {
    const ordered_json command = ordered_json::parse(printed(
        [&](auto& in, auto& out) {
          cli::translate({.model = folder.path(), .beam_size = beam, .json = true}, in, out);
        },
        sentence))["translations"][0];
    const ordered_json answer = run(state, sentence, {.beam = beam})["answer"];
    EXPECT_EQ(answer["text"], command["text"]);
    EXPECT_EQ(answer["score"], command["log_probability"]);
    expect_same_tokens(answer["tokens"], command["tokens"]);
  }
}

// The pass that is watched is the one that gave the answer: the same probabilities, to the bit.
TEST(Run, ThePassOverTheAnswerHasTheBitsOfDecoding) {
  const SmallFolder folder;
  ExplorerState state = folder.state();
  const ordered_json result = run(state, sentence);
  const auto trace = state.traces.find(result["trace"]);
  const Tensor logits = trace->recording.logits();
  const ordered_json& tokens = result["answer"]["tokens"];
  ASSERT_GE(logits.dim(0), static_cast<Index>(tokens.size()));
  for (std::size_t row = 0; row < tokens.size(); ++row) {
    const auto width = static_cast<std::size_t>(logits.dim(1));
    const auto log_probabilities =
        infer::LogProbabilities::of_logits(logits.values().subspan(row * width, width));
    const int id = trace->recording.predictions()[row].token;
    EXPECT_EQ(log_probabilities[id], tokens[row]["log_probability"].get<float>());
    EXPECT_EQ(result["target"]["next"][row]["id"], id);
    EXPECT_EQ(result["target"]["next"][row]["piece"], tokens[row]["piece"]);
  }
}

TEST(Run, ContinuesTextAsTheCommandLineDoes) {
  const SmallFolder folder(ModelKind::language);
  ExplorerState state = folder.state();
  cli::GenerateOptions options{.model = folder.path()};
  options.decoding.temperature = 0;
  options.decoding.max_tokens = 20;
  options.json = true;
  const ordered_json command = ordered_json::parse(
      printed([&](auto& in, auto& out) { cli::generate(options, in, out); }, sentence));
  const ordered_json result = run(state, sentence);
  EXPECT_EQ(result["answer"]["text"], command["text"]);
  expect_same_tokens(result["answer"]["tokens"], command["tokens"]);
  EXPECT_EQ(result["answer"]["next"].size(), 20u);
  EXPECT_EQ(result["answer"]["next"][0]["piece"], command["tokens"][0]["piece"]);
  EXPECT_TRUE(result["target"].is_null());
  // Every token but the last predicts the one after it.
  const auto& ids = result["source"]["ids"];
  for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
    EXPECT_EQ(result["source"]["next"][i]["id"], ids[i + 1]);
  }
}

TEST(Run, ClassifiesAndFillsMasksAsTheCommandLineDoes) {
  const SmallFolder classes(ModelKind::classifier);
  ExplorerState state = classes.state();
  const ordered_json command = ordered_json::parse(printed(
      [&](auto& in, auto& out) {
        cli::classify({.model = classes.path(), .top = 3, .json = true}, in, out);
      },
      sentence));
  const ordered_json answer = run(state, sentence)["answer"];
  ASSERT_EQ(answer["classes"].size(), 3u);
  EXPECT_EQ(answer["classes"], command["classes"]);

  const SmallFolder masks(ModelKind::masked);
  ExplorerState masked = masks.state();
  const std::string text = "the <mask> sleeps";
  const ordered_json filled = ordered_json::parse(printed(
      [&](auto& in, auto& out) {
        std::ostringstream log;
        cli::fill({.model = masks.path(), .top = 20, .json = true}, in, out, log);
      },
      text));
  const ordered_json words = run(masked, text)["answer"]["masks"][0];
  ASSERT_EQ(words.size(), filled["gaps"][0].size());
  ASSERT_GT(words.size(), 5u);
  for (std::size_t i = 0; i < words.size(); ++i) {
    EXPECT_EQ(words[i]["piece"], filled["gaps"][0][i]["word"]);
    EXPECT_EQ(words[i]["probability"], filled["gaps"][0][i]["probability"]);
  }
}

TEST(Run, TagsWordsAsTheCommandLineDoes) {
  const SmallFolder folder(ModelKind::tagger);
  ExplorerState state = folder.state();
  const ordered_json command = ordered_json::parse(printed(
      [&](auto& in, auto& out) { cli::classify({.model = folder.path(), .json = true}, in, out); },
      sentence));
  const ordered_json result = run(state, sentence);
  const ordered_json& words = result["answer"]["words"];
  ASSERT_EQ(words.size(), command.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (const char* field : {"word", "tag", "probability"}) {
      EXPECT_EQ(words[i][field], command[i][field]);
    }
    const auto position = words[i]["position"].get<std::size_t>();
    EXPECT_EQ(result["source"]["words"][position], i);
  }
  EXPECT_TRUE(result["target"].is_null());
  EXPECT_EQ(result["sites"].size(), 2u);
}

TEST(Run, ListsTokensWithTheirWordsAndAFactForEveryHead) {
  const SmallFolder folder;
  ExplorerState state = folder.state();
  const ordered_json result = run(state, sentence);
  const ordered_json& source = result["source"];
  EXPECT_EQ(source["word_texts"],
            (ordered_json{"the", "bat", "sleeps", "in", "the", "cave", "</s>"}));
  EXPECT_EQ(source["special"].back(), true);
  EXPECT_EQ(result["target"]["ids"][0], text::own_tokens::end);
  ASSERT_EQ(result["sites"].size(), 6u);
  EXPECT_EQ(result["sites"][3]["name"], "decoder.0.cross_attention");
  EXPECT_EQ(result["sites"][3]["head_facts"].size(), 2u);
}

TEST(Run, LettersThatTheModelDoesNotKnowKeepTheirNames) {
  const SmallFolder folder;
  ExplorerState state = folder.state();
  EXPECT_EQ(run(state, "the Ж sleeps")["source"]["word_texts"],
            (ordered_json{"the", "Ж", "sleeps", "</s>"}));
}

TEST(Run, RefusesATextBeyondThePositionsOfTheModel) {
  models::TransformerConfig config = models::small_config(ModelKind::classifier);
  config.positions = models::Positions::learned;
  const SmallFolder folder(config);
  ExplorerState state = folder.state();
  std::string text;
  for (int i = 0; i < 600; ++i) text += "bat ";
  EXPECT_THROW(run(state, text), Error);
}

TEST(Run, ReadsAGivenTargetInPlaceOfTheAnswer) {
  const SmallFolder folder;
  ExplorerState state = folder.state();
  const ordered_json result = run(state, sentence, {.target = "the cave is dark"});
  EXPECT_EQ(result["target"]["word_texts"], (ordered_json{"</s>", "the", "cave", "is", "dark"}));
  EXPECT_EQ(result["answer"]["text"], run(state, sentence)["answer"]["text"]);
}

TEST(Run, ChangedAttentionChangesTheAnswerAndTheRecording) {
  const SmallFolder folder;
  ExplorerState state = folder.state();
  const ordered_json plain = run(state, sentence);
  const json interventions = {
      {"head_scales", {{{"site", "encoder.0.self_attention"}, {"head", 1}, {"scale", 0}}}},
      {"knockouts",
       {{{"site", "encoder.1.self_attention"}, {"head", nullptr}, {"query", 1}, {"key", 0}}}}};
  const ordered_json changed = run(state, sentence, {.interventions = interventions});
  EXPECT_NE(changed["answer"], plain["answer"]);
  const auto trace = state.traces.find(changed["trace"]);
  const Tensor weights = trace->recording.view("encoder.1.self_attention").weights;
  const Index length = weights.dim(1);
  for (Index head = 0; head < 2; ++head) {
    EXPECT_EQ(weights.values()[(head * length + 1) * length], 0.0f);
  }
  EXPECT_EQ(changed["compare"]["before"], plain["answer"]);
  EXPECT_EQ(changed["compare"]["after"], changed["answer"]);
  EXPECT_EQ(changed["compare"]["tokens"].size(), plain["answer"]["tokens"].size());
  for (const auto& token : changed["compare"]["tokens"]) {
    EXPECT_EQ(token["difference"].get<double>(),
              token["after"].get<double>() - token["before"].get<double>());
  }
  EXPECT_FALSE(plain.contains("compare"));
  // Its probabilities are those of the changed model.
  const auto first = changed["answer"]["tokens"][0]["log_probability"].get<float>();
  EXPECT_NEAR(std::log(changed["target"]["next"][0]["probability"].get<double>()), first, 1e-5);
}

TEST(Run, ReplacesWords) {
  const SmallFolder folder;
  ExplorerState state = folder.state();
  const json interventions = {
      {"replacements", {{{"side", "source"}, {"word", 1}, {"text", "ball"}}}}};
  const ordered_json changed = run(state, sentence, {.interventions = interventions});
  EXPECT_EQ(changed["answer"], run(state, "the ball sleeps in the cave")["answer"]);
  EXPECT_EQ(state.traces.find(changed["trace"])->text, "the ball sleeps in the cave");
}

TEST(Run, AClassifierThatPutsATokenFirstShowsIt) {
  models::TransformerConfig config = models::small_config(ModelKind::classifier);
  config.pooling = models::Pooling::first;
  const SmallFolder folder(config);
  ExplorerState state = folder.state();
  const ordered_json result = run(state, "the bat");
  EXPECT_EQ(result["source"]["ids"][0], text::own_tokens::begin);
  const auto trace = state.traces.find(result["trace"]);
  EXPECT_EQ(trace->recording.view("encoder.0.self_attention").weights.dim(1),
            static_cast<Index>(result["source"]["ids"].size()));
  const json interventions = {
      {"replacements", {{{"side", "source"}, {"word", 2}, {"text", "ball"}}}}};
  EXPECT_EQ(run(state, "the bat", {.interventions = interventions})["answer"],
            run(state, "the ball")["answer"]);
}

TEST(Run, RefusesWhatItCannotRead) {
  const SmallFolder folder;
  ExplorerState state = folder.state();
  EXPECT_THROW(run(state, "  "), Error);
  expect_error(ErrorKind::data, "text: expected at most 4096 characters, found 5000",
               [&] { run(state, std::string(5000, 'a')); });
  expect_error(ErrorKind::usage,
               "interventions: encoder.0.self_attention: expected a head from 0 to "
               "1, found 2",
               [&] {
                 run(state, sentence,
                     {.interventions = {
                          {"head_scales",
                           {{{"site", "encoder.0.self_attention"}, {"head", 2}, {"scale", 1}}}}}});
               });
  EXPECT_THROW(run(state, sentence, {.checkpoint = 5}), Error);
  EXPECT_THROW(run_options_from_json({{"beam", "five"}}), Error);
}

TEST(Run, TakesABeamThatAnAnswerCanBeWaitedFor) {
  EXPECT_EQ(run_options_from_json({{"beam", 32}}).beam, 32);
  for (const std::int64_t beam :
       {std::int64_t{0}, std::int64_t{33}, std::int64_t{1} << 31, std::int64_t{1} << 62}) {
    EXPECT_THROW(run_options_from_json({{"beam", beam}}), Error) << beam;
  }
}

TEST(TraceStore, ForgetsTheOldest) {
  const SmallFolder folder;
  ExplorerState state = folder.state();
  const Index first = run(state, sentence)["trace"];
  for (std::size_t i = 1; i < TraceStore::capacity; ++i) run(state, "the bat");
  EXPECT_EQ(state.traces.find(first)->text, sentence);
  run(state, "the cave");
  EXPECT_THROW(state.traces.find(first), Error);
  EXPECT_THROW(state.traces.find(1000), Error);
}

Recording recording_of(const std::shared_ptr<const ModelSession>& session) {
  return Recording(session, {.source = source_ids(*session, sentence), .target = {}});
}

TEST(TraceStore, ForgetsTheOldestWhenTheyTakeTooMuchMemory) {
  const SmallFolder folder(ModelKind::language);
  const auto session = folder.session();
  const Index size = recording_of(session).num_bytes();
  ASSERT_GT(size, 0);
  TraceStore traces(3 * size);
  for (int i = 0; i < 4; ++i) traces.add(sentence, recording_of(session));
  EXPECT_THROW(traces.find(1), Error);
  for (const Index id : {2, 3, 4}) EXPECT_EQ(traces.find(id)->id, id);

  TraceStore small(size - 1);
  for (int i = 0; i < 2; ++i) small.add(sentence, recording_of(session));
  EXPECT_THROW(small.find(1), Error);
  EXPECT_EQ(small.find(2)->id, 2) << "the page has just asked for it";
}

TEST(TraceStore, CountsTheModelsOfOtherCheckpoints) {
  const SmallFolder folder(ModelKind::language);
  const auto first = folder.session(), second = folder.session();
  const Index size = recording_of(first).num_bytes();
  TraceStore traces(2 * size + 4 * first->num_parameters() - 1);
  traces.add(sentence, recording_of(first));
  traces.add(sentence, recording_of(first));
  EXPECT_EQ(traces.find(1)->id, 1);
  traces.add(sentence, recording_of(second));
  EXPECT_THROW(traces.find(2), Error) << "it holds another model";
}

}  // namespace
}  // namespace heed::explore
