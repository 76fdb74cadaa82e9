#include "heed/infer/greedy_answers.h"

#include <algorithm>
#include <utility>

namespace heed::infer {
namespace {

// Prompts in a batch: enough to fill the matrices of a step.
constexpr std::size_t prompts_at_once = 32;

}  // namespace

std::vector<std::string> greedy_answers(const TextGenerator& generator,
                                        std::span<const std::string> prompts,
                                        const AnswerOptions& options) {
  std::vector<std::string> answers;
  for (std::size_t begin = 0; begin < prompts.size(); begin += prompts_at_once) {
    const auto some = prompts.subspan(begin, std::min(prompts_at_once, prompts.size() - begin));
    GenerationOptions generation = generator.greedy_options(options.max_tokens);
    generation.truncate = options.truncate;
    generation.first_prompt = static_cast<Index>(begin) + 1;
    for (GeneratedText& text : generator.generate(some, generation)) {
      answers.push_back(std::move(text.text));
    }
  }
  return answers;
}

}  // namespace heed::infer
