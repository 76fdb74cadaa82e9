#include "heed/infer/greedy_answers.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "infer/memorised_generator.h"

namespace heed::infer {
namespace {

TextGenerator generator() { return {rhyme_model().model, rhyme_model().tokenizer}; }

TEST(GreedyAnswers, AreTheMostLikelyContinuationOfEachPrompt) {
  std::vector<std::string> prompts;
  for (int i = 0; i < 40; ++i) prompts.emplace_back(i % 3 == 0 ? "the bat sat" : "the cat");
  const auto answers = greedy_answers(generator(), prompts, {.max_tokens = 9});
  ASSERT_EQ(answers.size(), prompts.size());
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const GenerationOptions alone{.sampling = {.temperature = 0}, .max_tokens = 9};
    EXPECT_EQ(answers[i], generator().generate(prompts[i], alone)) << i;
  }
  EXPECT_EQ(answers[0], " in a cav");
}

TEST(GreedyAnswers, RefuseAPromptBeyondTheContextByItsNumberOrCutIt) {
  std::vector<std::string> prompts(33, "the bat");
  prompts.back() = "the bat sat in a cave the cat sat";
  try {
    greedy_answers(generator(), prompts);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data);
    EXPECT_TRUE(std::string(error.what()).starts_with("prompt 33: ")) << error.what();
  }
  EXPECT_EQ(greedy_answers(generator(), prompts, {.max_tokens = 3, .truncate = true}).size(), 33u);
}

}  // namespace
}  // namespace heed::infer
