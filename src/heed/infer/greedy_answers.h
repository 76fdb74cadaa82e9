// Greedy answers of a language model: the most likely continuation of a prompt, to its end token.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/infer/text_generator.h"

namespace heed::infer {

struct AnswerOptions {
  Index max_tokens = 256;
  bool truncate = false;  // cut the beginning of a prompt that is too long
};

// One answer for each prompt, as TextGenerator gives them greedily; any number of prompts.
std::vector<std::string> greedy_answers(const TextGenerator& generator,
                                        std::span<const std::string> prompts,
                                        const AnswerOptions& options = {});

}  // namespace heed::infer
