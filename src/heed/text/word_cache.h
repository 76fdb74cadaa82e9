// Words that were segmented lately: most words of a text come again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/text/subword_model.h"

namespace heed::text {

// A word has one place, where it takes that of the word before it. Every thread has its own cache,
// which all tokenizers share.
class WordCache {
 public:
  static WordCache& of_this_thread() {
    thread_local WordCache cache;
    return cache;
  }

  // Null when it is not there. `model` tells the tokenizers apart; it is not 0.
  const std::vector<WordPart>* find(std::uint64_t model, std::string_view word) const {
    const Entry& entry = entries_[place_of(model, word)];
    return entry.model == model && entry.word == word ? &entry.parts : nullptr;
  }

  void add(std::uint64_t model, std::string_view word, std::vector<WordPart> parts) {
    constexpr std::size_t max_word_bytes = 64;
    if (word.size() > max_word_bytes) return;
    entries_[place_of(model, word)] = {model, std::string(word), std::move(parts)};
  }

 private:
  struct Entry {
    std::uint64_t model = 0;
    std::string word;
    std::vector<WordPart> parts;
  };

  std::size_t place_of(std::uint64_t model, std::string_view word) const {
    return (std::hash<std::string_view>()(word) ^ model) & (entries_.size() - 1);
  }

  std::vector<Entry> entries_ = std::vector<Entry>(1 << 13);  // a power of two
};

}  // namespace heed::text
