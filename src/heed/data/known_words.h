// The words of a text, to tell which words of a sentence are new.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace heed::data {

// Words are what white space separates, without punctuation at their ends. "The" and "the" are one
// word; "THE" is another.
class KnownWords {
 public:
  void add(std::string_view text);
  // The words of a text that were never added, each once, in their order.
  std::vector<std::string> unknown_in(std::string_view text) const;

 private:
  std::unordered_set<std::string> words_;  // with a small first letter
};

}  // namespace heed::data
