// Numbers for the words of a corpus: equal words have equal numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace heed::metrics {

// Hypotheses and references that are compared take their numbers from one object.
class WordNumbers {
 public:
  std::vector<std::uint32_t> of(std::span<const std::string> words);

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace heed::metrics
