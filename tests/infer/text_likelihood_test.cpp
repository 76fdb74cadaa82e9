#include "heed/infer/text_likelihood.h"

#include <gtest/gtest.h>

#include "heed/infer/scoring.h"
#include "infer/memorised_generator.h"
#include "models/overflowing_model.h"
#include "support/expect_error.h"

namespace heed::infer {
namespace {

TEST(TextLikelihood, OfAShortTextIsThatOfItsTokens) {
  const auto& [model, tokenizer, generation] = rhyme_model();
  const std::vector<std::string> lines{"the cat sat on a mat"};
  const TextLikelihood found = text_likelihood(model, tokenizer, lines);
  EXPECT_EQ(found.num_tokens, 21);
  const auto scored = LineScorer(model, tokenizer).score(lines);
  EXPECT_NEAR(found.negative_log_likelihood, -scored[0].log_probability(), 1e-4);
}

TEST(TextLikelihood, OfALongTextIsTheSumOverItsWindows) {
  const auto& [model, tokenizer, generation] = rhyme_model();  // its context is 24
  std::vector<std::string> lines;
  for (int i = 0; i < 500; ++i) lines.push_back(rhyme()[static_cast<std::size_t>(i) % 3]);
  const TextLikelihood found = text_likelihood(model, tokenizer, lines);
  std::vector<int> ids = tokenizer.encode("\n");
  for (const int id : data::encode_text(lines, tokenizer)) ids.push_back(id);
  EXPECT_EQ(found.num_tokens, std::ssize(ids) - 1);
  double expected = 0;
  for (Index begin = 0; begin < found.num_tokens; begin += 24) {
    const Index length = std::min<Index>(24, found.num_tokens - begin);
    models::LanguageBatch window{
        {{ids.begin() + begin, ids.begin() + begin + length}, Spans::single(length)},
        {ids.begin() + begin + 1, ids.begin() + begin + 1 + length}};
    auto context = nn::ForwardContext::inference();
    expected += model.loss(window, context).negative_log_likelihood;
  }
  EXPECT_NEAR(found.negative_log_likelihood, expected, 1e-6 * expected);
}

TEST(TextLikelihood, NothingIsCertain) {
  const auto& [model, tokenizer, generation] = rhyme_model();
  EXPECT_EQ(text_likelihood(model, tokenizer, {}).negative_log_likelihood, 0);
}

TEST(TextLikelihood, RefusesAModelWithoutAFiniteOne) {
  const models::LanguageModel broken =
      models::overflowing(models::LanguageModel(rhyme_model().model.config(), 1));
  expect_error(ErrorKind::model,
               "model: expected a finite log-probability of the text, found NaN or infinity",
               [&] { text_likelihood(broken, rhyme_model().tokenizer, rhyme()); });
}

}  // namespace
}  // namespace heed::infer
