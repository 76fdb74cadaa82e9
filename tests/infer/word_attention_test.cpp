#include "heed/infer/word_attention.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/models/presets.h"

namespace heed::infer {
namespace {

struct Toy {
  text::Tokenizer tokenizer =
      text::Tokenizer::train(std::vector<std::string>{"the cat sat because it was tired"},
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

TEST(WordAttention, IsOneColumnPerHeadOverTheWordsOfTheSentence) {
  const Toy toy;
  const auto attention =
      encoder_attention_from(toy.model, toy.tokenizer, "the cat because it was tired", "it");
  EXPECT_EQ(attention.words,
            (std::vector<std::string>{"the", "cat", "because", "it", "was", "tired", "(end)"}));
  ASSERT_EQ(attention.weights.size(), 7u);
  EXPECT_EQ(attention.heads,
            (std::vector<std::string>{"1.1", "1.2", "1.3", "1.4", "2.1", "2.2", "2.3", "2.4"}));
  for (std::size_t head = 0; head < 8; ++head) {
    float total = 0;
    for (const auto& row : attention.weights) total += row.at(head);
    EXPECT_NEAR(total, 1, 1e-5);
  }
}

TEST(WordAttention, RefusesASentenceWithoutTheWord) {
  const Toy toy;
  EXPECT_THROW(encoder_attention_from(toy.model, toy.tokenizer, "the cat", "it"), Error);
}

}  // namespace
}  // namespace heed::infer
