#include "heed/text/tokenizer_training.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "heed/base/cancellation.h"
#include "heed/base/random.h"

namespace heed::text {
namespace {

std::vector<std::string> random_lines(int count) {
  std::vector<std::string> lines;
  Rng rng(1);
  for (int i = 0; i < count; ++i) {
    std::string& line = lines.emplace_back();
    for (int j = 0; j < 8; ++j) line += std::to_string(rng.below(1u << 20)) + ' ';
  }
  return lines;
}

TEST(TokenizerTraining, CanBeCancelledInSentencePiece) {
  const std::vector<std::string> lines = random_lines(20'000);
  int polls = 0;
  const CancellationScope scope([&] { return ++polls >= 10; });  // the first few are ours
  EXPECT_THROW(train_sentencepiece(lines, {.vocabulary = 4000}), Cancelled);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "no child is left";
}

TEST(TokenizerTraining, GivesTheSameBytesInsideAScope) {
  const std::vector<std::string> lines = random_lines(300);
  for (const Subwords subwords : {Subwords::bpe, Subwords::unigram}) {
    const TokenizerOptions options{.vocabulary = 100, .subwords = subwords};
    const std::string bytes = train_sentencepiece(lines, options);
    const CancellationScope scope([] { return false; });
    EXPECT_EQ(train_sentencepiece(lines, options), bytes);
  }
}

}  // namespace
}  // namespace heed::text
