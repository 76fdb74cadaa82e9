#include "heed/infer/alignment.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "models/small_models.h"

namespace heed::infer {
namespace {

std::vector<Index> words_of(const std::string& text, text::Subwords subwords) {
  const std::vector<std::string> lines{"a bat lives in the cave", "a cat sat on the mat",
                                       "the bat and the cat", "a cave in the mat"};
  const int vocabulary = subwords == text::Subwords::bpe ? 24 : 40;
  const auto tokenizer =
      text::Tokenizer::train(lines, {.vocabulary = vocabulary, .subwords = subwords});
  return words_of_pieces(tokenizer.encode(text), tokenizer);
}

TEST(WordsOfPieces, CountsWordsAsWhiteSpaceSeparatesThem) {
  EXPECT_EQ(words_of("the cat sat", text::Subwords::word), (std::vector<Index>{0, 1, 2}));
  // The white space before a word is a character of its own, and belongs to that word.
  EXPECT_EQ(words_of("a bat", text::Subwords::character), (std::vector<Index>{0, 0, 1, 1, 1, 1}));
  const std::vector<Index> pieces = words_of("the bat lives", text::Subwords::bpe);
  EXPECT_EQ(pieces.front(), 0);
  EXPECT_EQ(pieces.back(), 2);
  EXPECT_TRUE(std::ranges::is_sorted(pieces));
}

TEST(WordsOfPieces, SeveralSpacesAreOneAndSpacesAtTheEndsAreNoWords) {
  const std::vector<Index> words = words_of("  a   bat  ", text::Subwords::character);
  EXPECT_EQ(words.front(), 0);
  EXPECT_EQ(words.back(), 1);
  EXPECT_TRUE(words_of("", text::Subwords::character).empty());
}

TEST(AlignWords, TakesTheHeaviestSourceWordOverHeadsAndPieces) {
  // Two heads, three target pieces (two words), four source pieces (two words and the end).
  const Tensor weights = Tensor::from({0.1f, 0.1f, 0.2f, 0.6f,  //
                                       0.4f, 0.3f, 0.2f, 0.1f,  //
                                       0.0f, 0.0f, 0.9f, 0.1f,  //
                                       0.3f, 0.3f, 0.1f, 0.3f,  //
                                       0.1f, 0.1f, 0.5f, 0.3f,  //
                                       0.3f, 0.3f, 0.3f, 0.1f},
                                      {2, 3, 4});
  const std::vector<Index> source{0, 0, 1}, target{0, 0, 1};
  // Target word 0: source word 0 has 0.2 + 0.7 + 0.6 + 0.2 = 1.7, source word 1 has 1.0.
  // Target word 1: source word 0 has 0.0 + 0.6, source word 1 has 0.9 + 0.3.
  EXPECT_EQ(to_pharaoh(align_words(weights, source, target)), "0-0 1-1");
  EXPECT_TRUE(align_words(weights, {}, target).empty());
}

TEST(AlignWords, RefusesWeightsOfFewerPieces) {
  const std::vector<Index> three{0, 1, 2};
  EXPECT_THROW(align_words(Tensor::zeros({1, 2, 3}), three, three), Error);
}

TEST(CrossAttentionWeights, HaveTheHeadsOfTheLastLayersAndRowsThatSumToOne) {
  const models::TranslationModel model(models::small_config(), 3);  // 2 layers of 2 heads
  const auto sources = models::sample_sentences({5, 2}), targets = models::sample_sentences({3, 4});
  EXPECT_EQ(cross_attention_weights(model, sources, targets, 1)[0].shape(), (Shape{2, 4, 6}));
  const std::vector<Tensor> both = cross_attention_weights(model, sources, targets, 0);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[1].shape(), (Shape{4, 5, 3}));
  for (Index row = 0; row < 4 * 5; ++row) {
    float sum = 0;
    for (Index key = 0; key < 3; ++key) sum += both[1].values()[row * 3 + key];
    EXPECT_NEAR(sum, 1, 1e-5);
  }
  EXPECT_THROW(cross_attention_weights(model, sources, targets, 2), Error);
}

TEST(Pharaoh, WritesPairsInOrder) {
  const std::vector<AlignedWords> pairs{{0, 0}, {1, 2}, {3, 1}};
  EXPECT_EQ(to_pharaoh(pairs), "0-0 1-2 3-1");
  EXPECT_EQ(to_pharaoh({}), "");
}

}  // namespace
}  // namespace heed::infer
