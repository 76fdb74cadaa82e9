#include "heed/infer/word_attention.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/models/presets.h"

namespace heed::infer {
namespace {

struct Toy {
  text::Tokenizer tokenizer =
      text::Tokenizer::train(std::vector<std::string>{"the cat sat. because it was tired"},
                             {.vocabulary = 30, .subwords = text::Subwords::character});
  models::TranslationModel model{config(), 1};

  models::TransformerConfig config() const {
    models::TransformerConfig config = models::transformer_preset("tiny");
    config.vocabulary = tokenizer.size();
    config.encoder_layers = config.decoder_layers = 2;
    config.model_dim = 16;
    config.feed_forward_dim = 16;
    return config;
  }
};

TEST(WordAttention, IsOneColumnPerHeadOverTheWordsOfTheSource) {
  const Toy toy;
  const auto attention =
      attention_predicting(toy.model, toy.tokenizer, "the cat sat. it was", "tired it was", "It");
  EXPECT_EQ(attention.words,
            (std::vector<std::string>{"the", "cat", "sat", ".", "it", "was", "(end)"}));
  ASSERT_EQ(attention.weights.size(), 7u);
  EXPECT_EQ(attention.heads,
            (std::vector<std::string>{"1.1", "1.2", "1.3", "1.4", "2.1", "2.2", "2.3", "2.4"}));
  for (std::size_t head = 0; head < 8; ++head) {
    float total = 0;
    for (const auto& row : attention.weights) total += row.at(head);
    EXPECT_NEAR(total, 1, 1e-5);
  }
}

TEST(WordAttention, IsTheRowBeforeTheWordIsKnown) {
  const Toy toy;
  const auto weights = [&](const std::string& target, std::string_view word) {
    return attention_predicting(toy.model, toy.tokenizer, "the cat", target, word).weights;
  };
  // What follows "tired" has no part in predicting what comes next; what came before has.
  EXPECT_EQ(weights("tired cat", "cat"), weights("tired cat sat", "cat"));
  EXPECT_EQ(weights("tired cat", "cat"), weights("tired it", "it"));
  EXPECT_NE(weights("tired cat", "cat"), weights("was cat", "cat"));
}

TEST(WordAttention, RefusesATranslationWithoutTheWord) {
  const Toy toy;
  EXPECT_THROW(attention_predicting(toy.model, toy.tokenizer, "the cat", "the cat", "it"), Error);
}

TEST(WordAttention, KnowsWhichHeadsHaveTheirMaximumOnAWord) {
  const WordAttention attention{{"The", "cat", "(end)"},
                                {"1.1", "1.2", "1.3"},
                                {{0.5f, 0.1f, 0.4f}, {0.3f, 0.8f, 0.3f}, {0.2f, 0.1f, 0.3f}}};
  EXPECT_EQ(maxima_on(attention, "cat"), (std::vector<bool>{false, true, false}));
  EXPECT_EQ(maxima_on(attention, "the"), (std::vector<bool>{true, false, true}));
}

TEST(WordAttention, ChoosesTheHeadOnOneHalfAndMeasuresItOnTheOther) {
  // The second head wins the first half; the third would have won the second half.
  const MeasuredHead best = measure_best_head(
      {{false, true, false}, {true, true, false}, {false, true, true}, {true, false, true}});
  EXPECT_EQ(best.head, 1u);
  EXPECT_EQ(best.share, 0.5);
  EXPECT_THROW(measure_best_head({{true}}), Error);
}

}  // namespace
}  // namespace heed::infer
