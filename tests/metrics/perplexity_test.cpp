#include "heed/metrics/perplexity.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/error.h"

namespace heed::metrics {
namespace {

TEST(Perplexity, IsTheNumberOfEquallyLikelyChoices) {
  // Eight tokens, each one of 16; the same guesses seen as two words and as 32 characters.
  const Perplexity found = perplexity(8 * std::log(16.0), {8, 2, 32});
  EXPECT_NEAR(found.token, 16, 1e-9);
  EXPECT_NEAR(found.word, std::pow(16.0, 4), 1e-6);
  EXPECT_NEAR(found.character, 2, 1e-12);
}

TEST(Perplexity, OfACertainTextIsOne) { EXPECT_EQ(perplexity(0, {3, 2, 1}).token, 1); }

TEST(Perplexity, CountsWordsBetweenWhiteSpaceAndCodePoints) {
  TextLength length;
  length.add("Die K\u00f6nigin\u00a0 schl\u00e4ft.", 5);
  length.add("", 1);
  EXPECT_EQ(length.tokens, 6);
  EXPECT_EQ(length.words, 3);
  EXPECT_EQ(length.characters, 21);
}

TEST(Perplexity, WithoutUnitsIsInfinite) {
  EXPECT_TRUE(std::isinf(perplexity(1, {1, 0, 0}).word));
  EXPECT_THROW(perplexity(-1, {1, 1, 1}), Error);
}

}  // namespace
}  // namespace heed::metrics
