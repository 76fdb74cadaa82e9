#include "heed/cli/generate_command.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "heed/base/error.h"
#include "heed/cli/evaluate_command.h"
#include "infer/memorised_generator.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace heed::cli {
namespace {

struct SavedModel {
  TemporaryFolder folder;
  SavedModel() {
    const models::LanguageModelFolder& model = infer::rhyme_model();
    models::save_model_folder(folder.path(), model.model, model.tokenizer);
  }
  GenerateOptions greedy(Index max_tokens) const {
    GenerateOptions options{.model = folder.path()};
    options.decoding.temperature = 0;
    options.decoding.max_tokens = max_tokens;
    return options;
  }
};

std::string run(const GenerateOptions& options, const std::string& input = "") {
  std::istringstream in(input);
  std::ostringstream out;
  EXPECT_EQ(generate(options, in, out), 0);
  return out.str();
}

TEST(GenerateCommand, GoesOnFromThePrompt) {
  const SavedModel model;
  GenerateOptions options = model.greedy(7);
  options.prompt = "the bat sat in";
  EXPECT_EQ(run(options), " a cave\n");
  options.echo = true;
  EXPECT_EQ(run(options), "the bat sat in a cave\n");
}

TEST(GenerateCommand, GoesOnFromEveryLineAndPutsTheTextsInOrder) {
  const SavedModel model;
  GenerateOptions options = model.greedy(6);
  EXPECT_EQ(run(options, "the bat sat in a\nthe cat sat on\n"), " cave\n\n---\n a mat\n");
  options.separator = "==";
  options.decoding.num_samples = 2;
  EXPECT_EQ(run(options, "the cat sat on\n"), " a mat\n==\n a mat\n");
  EXPECT_EQ(run(options, ""), "");
}

TEST(GenerateCommand, KeepsLineEndsAndTabsAndEscapesOtherControlCharacters) {
  const TemporaryFolder folder;
  const auto tokenizer = text::Tokenizer::train(infer::rhyme(), {.subwords = text::Subwords::byte});
  models::TransformerConfig config = infer::rhyme_model().model.config();
  config.vocabulary = tokenizer.size();
  models::save_model_folder(folder.path(), models::LanguageModel(config, 1), tokenizer);
  GenerateOptions options{.model = folder.path()};
  options.generation.prefix = "a\n\tb\r\x1b[0m";
  options.decoding.max_tokens = 1;
  options.echo = true;
  const std::string text = run(options, "c\x07\n");
  EXPECT_TRUE(text.starts_with("c\\x07a\n\tb\\r\\x1b[0m")) << text;
  options.json = true;
  const auto line = nlohmann::json::parse(run(options, "c\x07\n"));
  EXPECT_TRUE(line["text"].get<std::string>().starts_with(options.generation.prefix));
}

TEST(GenerateCommand, WritesTokensAndTheirLogProbabilitiesAsJson) {
  const SavedModel model;
  GenerateOptions options = model.greedy(30);
  options.json = true;
  options.generation.stop = {"\n"};
  const auto line = nlohmann::json::parse(run(options, "the cat sat on\n"));
  EXPECT_EQ(line["prompt"], "the cat sat on");
  EXPECT_EQ(line["text"], " a mat");
  EXPECT_EQ(line["ending"], "stop");
  ASSERT_EQ(line["tokens"].size(), 7u);
  EXPECT_EQ(line["tokens"][1]["piece"], "a");
  EXPECT_LE(line["tokens"][1]["log_probability"], 0.0);
}

TEST(GenerateCommand, KeepsWordsOutAndBringsWordsIn) {
  const SavedModel model;
  GenerateOptions options = model.greedy(12);
  options.forbid = {"mat"};
  options.require = {"cave"};
  options.json = true;
  const auto line = nlohmann::json::parse(run(options, "the cat sat on\n"));
  const auto text = line["text"].get<std::string>();
  EXPECT_EQ(text.find("mat"), text.npos) << text;
  EXPECT_NE(text.find(" cave"), text.npos) << text;
  EXPECT_EQ(line["missing"], nlohmann::json::array());
  options.require = {};
  EXPECT_FALSE(nlohmann::json::parse(run(options, "the\n")).contains("missing"));
}

TEST(GenerateCommand, TellsWhichRequiredWordsAreMissing) {
  const SavedModel model;
  GenerateOptions options = model.greedy(5);
  options.forbid = {"in c"};
  options.require = {"cave"};
  options.json = true;
  options.prompt = "the bat sat in";
  EXPECT_EQ(nlohmann::json::parse(run(options))["missing"], (nlohmann::json{"cave"}));
}

TEST(GenerateCommand, RefusesAPromptLongerThanTheContext) {
  const SavedModel model;
  try {
    run(model.greedy(5), "the\nthe bat sat in a cave the cat sat on a mat\n");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data);
    EXPECT_TRUE(std::string(error.what()).starts_with("prompt 2: expected a text of at most"))
        << error.what();
  }
}

// heed evaluate of the same model.
TEST(EvaluateCommand, TellsThePerplexityOfATextPerTokenWordAndCharacter) {
  const SavedModel model;
  std::ofstream(model.folder.file("text")) << "the cat sat on a mat\nüber die straße ging er\n";
  std::istringstream in;
  std::ostringstream out;
  EvaluateOptions options;
  options.model = model.folder.path();
  options.text = model.folder.file("text");
  options.json = true;
  EXPECT_EQ(evaluate(options, in, out), 0);
  const auto found = nlohmann::json::parse(out.str());
  EXPECT_EQ(found["token"]["count"], 45);
  EXPECT_EQ(found["word"]["count"], 11);
  EXPECT_EQ(found["character"]["count"], 45);
  EXPECT_GT(found["token"]["perplexity"], 1.0);
  EXPECT_LT(found["token"]["perplexity"], 2.0);
  EXPECT_NEAR(std::pow(found["word"]["perplexity"].get<double>(), 11.0 / 45),
              found["character"]["perplexity"].get<double>(), 1e-9);
}

struct ChatModel : SavedModel {
  explicit ChatModel(const std::string& chat_template) {
    std::ofstream(folder.file("chat_template.jinja")) << chat_template;
  }
  GenerateOptions greedy(Index max_tokens) const {
    GenerateOptions options = SavedModel::greedy(max_tokens);
    options.chat = true;
    return options;
  }
};

// The prompts of the JSON that was printed.
std::vector<std::string> prompts_of(const std::string& output) {
  std::vector<std::string> prompts;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) prompts.push_back(nlohmann::json::parse(line)["prompt"]);
  }
  return prompts;
}

// What is printed while a person types these lines.
std::string run_chat(const GenerateOptions& options, std::vector<std::string> lines) {
  std::size_t next = 0;
  std::ostringstream out;
  EXPECT_EQ(converse(
                options,
                [&]() -> std::optional<std::string> {
                  if (next == lines.size()) return std::nullopt;
                  return lines[next++];
                },
                out),
            0);
  return out.str();
}

constexpr char initials[] = "{% for m in messages %}{{ m.role[0] ~ m.content[0] }}{% endfor %}";

TEST(GenerateCommand, AnswersMessagesByTheChatTemplate) {
  const ChatModel model("{{ messages[-1].content }} {{ 'sat in' if add_generation_prompt }}");
  GenerateOptions options = model.greedy(7);
  EXPECT_EQ(run(options, "the bat\n"), " a cave\n");
  options.prompt = "the bat";
  options.echo = true;
  EXPECT_EQ(run(options), "the bat sat in a cave\n");
}

TEST(GenerateCommand, TakesListsOfMessagesAsJson) {
  const ChatModel model(std::string(initials) + "{{ tools }}");
  GenerateOptions options = model.greedy(1);
  options.json = true;
  options.system = "x";
  options.input_format = LineFormat::json;
  const std::string lines =
      "\"a\"\n"
      R"([{"role": "user", "content": "b"}, {"role": "assistant", "content": "c"}])"
      "\n"
      R"({"messages": [{"role": "system", "content": "d"}], "tools": [1]})"
      "\n";
  EXPECT_EQ(prompts_of(run(options, lines)),
            (std::vector<std::string>{"sxuaNone", "sxubacNone", "sd[1]"}));
  expect_error(ErrorKind::data,
               "standard input:1: expected messages with `role` and `content`, found {\"a\":1}",
               [&] { run(options, "[{\"a\": 1}]\n"); });
}

TEST(GenerateCommand, KeepsWhatWasSaidInAChatUntilReset) {
  const ChatModel model(initials);
  GenerateOptions options = model.greedy(1);
  options.json = true;
  options.system = "x";
  options.generation.prefix = "g";
  const std::string output = run_chat(options, {"a", "", "b", "/reset", "c"});
  EXPECT_EQ(prompts_of(output), (std::vector<std::string>{"sxua", "sxuaagub", "sxuc"}));
}

TEST(GenerateCommand, ForgetsAMessageThatTheChatTemplateRefuses) {
  const ChatModel model(
      std::string("{% if messages[-1].content == 'b' %}{{ raise_exception('no') }}"
                  "{% endif %}") +
      initials);
  GenerateOptions options = model.greedy(1);
  options.json = true;
  EXPECT_EQ(prompts_of(run_chat(options, {"b", "a"})), (std::vector<std::string>{"ua"}));
  EXPECT_THROW(run(options, "b\n"), Error);
}

TEST(GenerateCommand, AsksForAChatTemplateAndForAChat) {
  const SavedModel model;
  GenerateOptions options = model.greedy(1);
  options.system = "x";
  expect_error(ErrorKind::usage, "`system`: expected the option --chat beside it, found none",
               [&] { run(options, "a\n"); });
  options.chat = true;
  expect_error(ErrorKind::model,
               model.folder.path() +
                   ": expected a chat template: chat_template.jinja, `chat_template` in "
                   "tokenizer_config.json, or chat_templates/*.jinja, found none of them",
               [&] { run(options, "a\n"); });
}

TEST(GenerateCommand, RefusesAModelOfAnotherKind) {
  const TemporaryFolder folder;
  GenerateOptions options{.model = folder.path()};
  EXPECT_THROW(run(options), Error);
}

TEST(GenerateCommand, SearchesWithBeamsInPlaceOfSampling) {
  const SavedModel model;
  GenerateOptions options{.model = model.folder.path(), .prompt = "the bat sat in"};
  options.decoding.max_tokens = 7;
  options.decoding.beam_size = 3;
  EXPECT_EQ(run(options), " a cave\n");
  options.decoding.top_p = 0.9;
  EXPECT_THROW(run(options), Error);
}

TEST(GenerateCommand, WhatIsTypedWinsOverTheModelsOwnSettings) {
  models::GenerationConfig generation{
      .beam_size = 4, .max_length = 30, .rules = models::SearchRules::transformers};
  generation.temperature = 0.7;
  const infer::TextGenerator generator(infer::rhyme_model().model, infer::rhyme_model().tokenizer,
                                       generation);
  GenerateOptions options;
  infer::GenerationOptions decoding = decoding_options(options, generator);
  EXPECT_EQ(decoding.beam_size, 4);
  EXPECT_EQ(decoding.max_length, 30);
  EXPECT_EQ(decoding.sampling.temperature, 0);

  options.decoding.max_tokens = 5;
  options.decoding.beam_size = 2;
  options.decoding.early_stopping = "yes";
  decoding = decoding_options(options, generator);
  EXPECT_EQ(decoding.beam_size, 2);
  EXPECT_EQ(decoding.max_length, 0);
  EXPECT_EQ(decoding.max_tokens, 5);
  EXPECT_EQ(decoding.early_stopping, models::EarlyStopping::yes);

  options.decoding.beam_size = {};
  options.decoding.top_p = 0.9;
  decoding = decoding_options(options, generator);
  EXPECT_EQ(decoding.beam_size, 1);
  EXPECT_EQ(decoding.sampling.temperature, 0.7);
  EXPECT_EQ(decoding.sampling.top_k, 50);
  EXPECT_EQ(decoding.sampling.top_p, 0.9);
}

}  // namespace
}  // namespace heed::cli
