#include "heed/metrics/word_numbers.h"

namespace heed::metrics {

std::vector<std::uint32_t> WordNumbers::of(std::span<const std::string> words) {
  std::vector<std::uint32_t> numbers;
  numbers.reserve(words.size());
  for (const std::string& word : words) {
    const auto next = static_cast<std::uint32_t>(numbers_.size());
    numbers.push_back(numbers_.try_emplace(word, next).first->second);
  }
  return numbers;
}

}  // namespace heed::metrics
