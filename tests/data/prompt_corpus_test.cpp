#include "heed/data/prompt_corpus.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"

namespace heed::data {
namespace {

using Texts = std::vector<std::string>;

const Texts prompts{"2+3=", "to add 1\nand 1", " ", "2+2="};
const Texts answers{"5", " two", "7", ""};

text::Tokenizer characters() {
  return text::Tokenizer::train(Texts{"0123456789+=", "to add and two"},
                                {.subwords = text::Subwords::character, .is_running_text = true});
}

TEST(PromptCorpus, HoldsEachPromptItsAnswerAndTheEnd) {
  const text::Tokenizer tokenizer = characters();
  const PromptCorpus corpus = PromptCorpus::tokenize(prompts, answers, tokenizer, 100);
  ASSERT_EQ(corpus.size(), 2);
  EXPECT_EQ(corpus.num_blank(), 2);
  for (Index example = 0; example < corpus.size(); ++example) {
    const auto line = static_cast<std::size_t>(corpus.line(example));
    const std::span<const int> ids = corpus.ids(example);
    const auto split = static_cast<std::size_t>(corpus.prompt_length(example));
    EXPECT_EQ(std::vector<int>(ids.begin(), ids.begin() + corpus.prompt_length(example)),
              tokenizer.encode(prompts[line]));
    EXPECT_EQ(tokenizer.decode(ids.subspan(split)), answers[line]);
    EXPECT_EQ(ids.back(), text::own_tokens::end);
    EXPECT_EQ(corpus.answer_length(example), std::ssize(ids) - corpus.prompt_length(example));
    EXPECT_EQ(corpus.sizes()[example].source, std::ssize(ids) - 1);
  }
  EXPECT_EQ(corpus.line(1), 1);
  EXPECT_EQ(corpus.prompt_lengths().max, 14);
  EXPECT_EQ(corpus.answer_lengths().max, 5);
  EXPECT_EQ(corpus.lengths().max, 19);
}

TEST(PromptCorpus, LeavesOutWhatIsTooLong) {
  const PromptCorpus corpus = PromptCorpus::tokenize(prompts, answers, characters(), 18);
  EXPECT_EQ(corpus.size(), 1);
  EXPECT_EQ(corpus.num_too_long(), 1);
  EXPECT_EQ(corpus.lengths().max, 19);
}

TEST(PromptCorpus, RefusesTextsOfWhichNothingRemains) {
  EXPECT_THROW(PromptCorpus::tokenize(prompts, Texts{"5"}, characters(), 18), Error);
  try {
    PromptCorpus::tokenize(prompts, answers, characters(), 5);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data);
    EXPECT_STREQ(error.what(),
                 "corpus: expected prompts with answers, found none that can be used among 4 (2 "
                 "blank, 2 longer than 5 tokens)");
  }
}

}  // namespace
}  // namespace heed::data
