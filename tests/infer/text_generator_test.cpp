#include "heed/infer/text_generator.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/error.h"
#include "heed/infer/top_tokens.h"
#include "infer/memorised_generator.h"
#include "support/expect_error.h"

namespace heed::infer {
namespace {

const TextGenerator& rhyme_generator() {
  static const TextGenerator generator(models::pack(rhyme_model().model), rhyme_model().tokenizer);
  return generator;
}

const GenerationOptions greedy{.sampling = {.temperature = 0}, .max_tokens = 40};

std::vector<std::string> texts_of(const std::vector<GeneratedText>& written) {
  std::vector<std::string> texts;
  for (const GeneratedText& one : written) texts.push_back(one.text);
  return texts;
}

std::vector<std::string> write(const std::vector<std::string>& prompts,
                               const GenerationOptions& options) {
  return texts_of(rhyme_generator().generate(prompts, options));
}

TEST(TextGenerator, ContinuesWhatItKnowsByHeart) {
  EXPECT_EQ(write({"the bat sat in"}, greedy)[0], " a cave\nthe cat sat on a mat\nüber die st");
}

TEST(TextGenerator, ContinuesOnePromptAsAmongOthers) {
  std::string streamed;
  const std::string text = rhyme_generator().generate(
      "the bat sat in", greedy, [&](std::string_view part) { streamed += part; });
  EXPECT_EQ(text, write({"the bat sat in"}, greedy)[0]);
  EXPECT_EQ(streamed, text);
  EXPECT_THROW(rhyme_generator().generate("the bat", {.num_samples = 2}), Error);
}

TEST(TextGenerator, GeneratesFarBeyondItsContext) {
  GenerationOptions options = greedy;
  options.max_tokens = 150;  // the model sees 24 of them
  const std::string text = "the bat sat" + write({"the bat sat"}, options)[0];
  EXPECT_TRUE(
      text.starts_with("the bat sat in a cave\nthe cat sat on a mat\nüber die straße ging "
                       "er\nthe bat sat in a cave\nthe cat sat"))
      << text;
}

// What a plain loop over the whole visible text gives, without a cache and without a batch.
std::string written_plainly(const std::string& prompt, Index count) {
  const auto& [model, tokenizer, generation] = rhyme_model();
  const NoGrad no_grad;
  std::vector<int> ids = tokenizer.encode(prompt);
  const std::size_t prompt_size = ids.size();
  std::size_t begin = 0;
  const auto context_size = static_cast<std::size_t>(model.config().max_positions);
  for (Index i = 0; i < count; ++i) {
    if (ids.size() - begin > context_size) begin = ids.size() - context_size / 2;
    const std::vector<int> seen(ids.begin() + static_cast<std::ptrdiff_t>(begin), ids.end());
    auto context = nn::ForwardContext::inference();
    const Tensor logits =
        model.logits(model.hidden({seen, Spans::single(std::ssize(seen))}, context));
    const auto last = logits.values().last(static_cast<std::size_t>(logits.dim(-1)));
    std::vector<float> allowed(last.begin(), last.end());
    for (const int token : {0, 1, 2}) allowed[static_cast<std::size_t>(token)] = -1e30f;
    ids.push_back(static_cast<int>(std::ranges::max_element(allowed) - allowed.begin()));
  }
  return tokenizer.decode(std::span(ids).subspan(prompt_size));
}

TEST(TextGenerator, WithTheCacheItWritesWhatItWritesWithout) {
  GenerationOptions options = greedy;
  options.max_tokens = 60;
  for (const std::string prompt : {"t", "a mat\nthe", "xe"}) {
    EXPECT_EQ(write({prompt}, options)[0], written_plainly(prompt, 60)) << prompt;
  }
}

TEST(TextGenerator, ATextDoesNotDependOnThoseBesideIt) {
  const std::vector<std::string> prompts{"the", "a cave\nthe cat sat on", "ü", ""};
  GenerationOptions options{.sampling = {.temperature = 1.5}, .max_tokens = 50, .num_samples = 3};
  const auto together = rhyme_generator().generate(prompts, options);
  ASSERT_EQ(together.size(), 12u);
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    options.first_prompt = 1 + static_cast<Index>(i);
    const auto alone = rhyme_generator().generate(std::span(&prompts[i], 1), options);
    for (std::size_t sample = 0; sample < 3; ++sample) {
      const GeneratedText& expected = together[3 * i + sample];
      EXPECT_EQ(alone[sample].text, expected.text);
      ASSERT_EQ(alone[sample].tokens.size(), expected.tokens.size());
      for (std::size_t t = 0; t < expected.tokens.size(); ++t) {
        EXPECT_EQ(alone[sample].tokens[t].log_probability, expected.tokens[t].log_probability);
      }
    }
  }
  EXPECT_NE(together[0].text, together[1].text) << "samples are all the same";
}

TEST(TextGenerator, OneSampleIsTheFirstOfMany) {
  GenerationOptions options{.sampling = {.temperature = 1.5}, .max_tokens = 30};
  const std::string first = write({"the"}, options)[0];
  options.num_samples = 4;
  EXPECT_EQ(write({"the"}, options)[0], first);
}

TEST(TextGenerator, TheSameSeedGivesTheSameTextAndAnotherSeedAnother) {
  GenerationOptions options{.sampling = {.temperature = 2}, .max_tokens = 40};
  const std::string text = write({"the"}, options)[0];
  EXPECT_EQ(write({"the"}, options)[0], text);
  options.seed = 2;
  EXPECT_NE(write({"the"}, options)[0], text);
}

TEST(TextGenerator, EndsBeforeAStopTextAndSaysSo) {
  GenerationOptions options = greedy;
  options.stop = {"mat"};
  const auto written = rhyme_generator().generate(std::vector<std::string>{"the cat"}, options);
  EXPECT_EQ(written[0].text, " sat on a ");
  EXPECT_EQ(written[0].ending, Ending::stop_text);
  EXPECT_EQ(rhyme_generator().generate(std::vector<std::string>{"the cat"}, greedy)[0].ending,
            Ending::length);
}

TEST(TextGenerator, TellsItsTextAsItComes) {
  const std::vector<std::string> prompts{"the bat", "the cat"};
  std::vector<std::string> heard(2);
  std::size_t times = 0;
  const auto written =
      rhyme_generator().generate(prompts, greedy, [&](std::size_t number, std::string_view part) {
        heard[number] += part;
        ++times;
      });
  EXPECT_EQ(heard, texts_of(written));
  EXPECT_EQ(times, 80u);  // a character at a time
}

TEST(TextGenerator, BeginsWithThePrefix) {
  GenerationOptions options = greedy;
  options.prefix = " sat on";
  options.max_tokens = 6;
  EXPECT_EQ(write({"the cat"}, options)[0], " sat on a mat");
}

TEST(TextGenerator, TellsHowLikelyTheModelFindsEachToken) {
  const auto written =
      rhyme_generator().generate(std::vector<std::string>{"the bat sat in a"}, greedy);
  ASSERT_EQ(written[0].tokens.size(), 40u);
  for (const TokenScore& token : written[0].tokens) {
    EXPECT_LE(token.log_probability, 0);
    EXPECT_GT(token.log_probability, -1.0f) << token.token;
  }
}

Constraints words(const std::vector<std::string>& forbidden,
                  const std::vector<std::string>& required) {
  return Constraints::of_words(forbidden, required, rhyme_model().tokenizer);
}

// Penalties, filters and words decide what comes; what the model thinks of it they do not change.
TEST(TextGenerator, TellsTheModelsOwnLogProbabilitiesWhateverIsPenalisedOrForced) {
  const auto& [model, tokenizer, generation] = rhyme_model();
  const NoGrad no_grad;
  const std::string prompt = "the bat";
  GenerationOptions options{
      .sampling = {.repetition_penalty = 1.7, .no_repeat_ngram = 4, .top_k = 9},
      .max_tokens = 15,
      .constraints = words({"sat"}, {"die"})};
  const GeneratedText written = rhyme_generator().generate(std::span(&prompt, 1), options)[0];
  std::vector<int> ids = tokenizer.encode(prompt);
  for (const TokenScore& token : written.tokens) {
    auto context = nn::ForwardContext::inference();
    const Tensor logits =
        model.logits(model.hidden({ids, Spans::single(std::ssize(ids))}, context));
    const auto last = logits.values().last(static_cast<std::size_t>(logits.dim(-1)));
    std::vector<float> possible(last.begin(), last.end());
    for (const int never : {0, 1, 2}) possible[static_cast<std::size_t>(never)] = -INFINITY;
    EXPECT_EQ(token.log_probability, LogProbabilities::of_logits(possible)[token.token]);
    ids.push_back(token.token);
  }
}

TEST(TextGenerator, NeverWritesAForbiddenWordNotEvenOneThatThePromptBegins) {
  GenerationOptions options = greedy;
  ASSERT_EQ(write({"the cat sat on a ma"}, options)[0].front(), 't');
  options.constraints = words({"mat", "the"}, {});
  EXPECT_NE(write({"the cat sat on a ma"}, options)[0].front(), 't');
  options.num_samples = 20;
  for (const double temperature : {0.0, 1.0, 3.0}) {
    options.sampling.temperature = temperature;
    for (const std::string& text : write({"the cat sat on", "ü"}, options)) {
      EXPECT_EQ(text.find("mat"), text.npos) << text;
      EXPECT_EQ(text.find("the"), text.npos) << text;
    }
  }
}

TEST(TextGenerator, WritesRequiredWordsAsLongAsThereIsRoomForThem) {
  GenerationOptions options{.num_samples = 20, .constraints = words({}, {"cave", "die"})};
  for (const double temperature : {0.0, 1.0, 3.0}) {
    options.sampling.temperature = temperature;
    for (const Index max_tokens : {9, 10, 13, 30}) {
      options.max_tokens = max_tokens;
      for (const GeneratedText& written :
           rhyme_generator().generate(std::vector<std::string>{"the cat", "the"}, options)) {
        EXPECT_NE(written.text.find(" cave"), std::string::npos) << written.text;
        EXPECT_NE(written.text.find(" die"), std::string::npos) << written.text;
        EXPECT_TRUE(written.missing.empty());
        EXPECT_LE(std::ssize(written.tokens), max_tokens);
      }
    }
  }
}

// Nothing but what is missing fits in, and what comes first is what the model likes better.
TEST(TextGenerator, ForcesRequiredWordsWhenNothingElseFits) {
  GenerationOptions options = greedy;
  options.max_tokens = 9;
  options.constraints = words({}, {"cave", "die"});
  EXPECT_EQ(write({"the bat sat in a"}, options)[0], " cave die");
  EXPECT_EQ(write({"\nüber"}, options)[0], " die cave");
  // What the penalties have against a token does not matter then.
  options.sampling.no_repeat_ngram = 1;
  EXPECT_EQ(write({"the bat sat in a"}, options)[0], " cave die");
}

TEST(TextGenerator, DoesNotStopBeforeItHoldsWhatIsRequired) {
  GenerationOptions options = greedy;
  options.stop = {"\n"};
  ASSERT_EQ(write({"the cat sat on"}, options)[0], " a mat");
  options.constraints = words({}, {"cave"});
  const GeneratedText written =
      rhyme_generator().generate(std::vector<std::string>{"the cat sat on"}, options)[0];
  EXPECT_TRUE(written.text.ends_with(" cave")) << written.text;
  EXPECT_EQ(written.text.find('\n'), std::string::npos);
}

TEST(TextGenerator, CountsRequiredWordsOfThePrefixAndNotOfThePrompt) {
  GenerationOptions options = greedy;
  options.max_tokens = 4;
  options.constraints = words({}, {"die"});
  EXPECT_EQ(write({"über die"}, options)[0], " die");
  options.prefix = " die";
  EXPECT_EQ(write({"über"}, options)[0], " die str");
}

TEST(TextGenerator, SaysWhichRequiredWordsAForbiddenOneKeepsOut) {
  GenerationOptions options = greedy;
  options.max_tokens = 5;
  options.constraints = words({"in c"}, {"cave"});
  const GeneratedText written =
      rhyme_generator().generate(std::vector<std::string>{"the bat sat in"}, options)[0];
  EXPECT_EQ(written.missing, (std::vector<std::string>{"cave"}));
  EXPECT_EQ(written.tokens.size(), 5u);
}

TEST(TextGenerator, RefusesRequiredWordsThatCannotComeOut) {
  GenerationOptions options = greedy;
  options.max_tokens = 8;
  options.constraints = words({}, {"cave", "die"});
  expect_error(ErrorKind::usage,
               "`require`: expected words that fit into `max_tokens` 8, found words of 9 tokens",
               [&] { write({"the"}, options); });
  options.max_tokens = 9;
  options.stop = {"av"};
  expect_error(ErrorKind::usage,
               "`require`: expected words that do not end the text, found ' cave' with `stop` "
               "'av'",
               [&] { write({"the"}, options); });
}

TEST(TextGenerator, AConstrainedTextDoesNotDependOnThoseBesideIt) {
  const std::vector<std::string> prompts{"the", "a cave\nthe cat sat on", "ü"};
  GenerationOptions options{.sampling = {.repetition_penalty = 1.2, .temperature = 1.5},
                            .max_tokens = 40,
                            .constraints = words({"mat"}, {"cave", "die"})};
  const std::vector<std::string> together = write(prompts, options);
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    options.first_prompt = 1 + static_cast<Index>(i);
    EXPECT_EQ(write({prompts[i]}, options)[0], together[i]);
  }
}

TEST(TextGenerator, RefusesAPromptThatIsLongerThanTheContextUnlessItMayCutIt) {
  const std::vector<std::string> prompts{"the", "in a cave\nthe cat sat on a"};  // 26 tokens
  try {
    rhyme_generator().generate(prompts, greedy);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data);
    EXPECT_STREQ(error.what(),
                 "prompt 2: expected a text of at most 24 tokens, found 26 "
                 "(`truncate` cuts the beginning)");
  }
  GenerationOptions options = greedy;
  options.truncate = true;
  EXPECT_TRUE(write(prompts, options)[1].starts_with(" mat\n")) << write(prompts, options)[1];
}

TEST(TextGenerator, NothingGivesNothing) { EXPECT_TRUE(write({}, greedy).empty()); }

}  // namespace
}  // namespace heed::infer
