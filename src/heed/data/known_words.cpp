#include "heed/data/known_words.h"

#include <algorithm>
#include <sstream>

namespace heed::data {
namespace {

std::string without_punctuation(const std::string& word) {
  static constexpr std::string_view punctuation = ".,;:!?\"'()[]-";
  const std::size_t begin = word.find_first_not_of(punctuation);
  if (begin == word.npos) return "";
  return word.substr(begin, word.find_last_not_of(punctuation) - begin + 1);
}

std::string with_small_letter(std::string word) {
  if (word[0] >= 'A' && word[0] <= 'Z') word[0] += 'a' - 'A';
  return word;
}

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; in >> word;) {
    word = without_punctuation(word);
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

}  // namespace

void KnownWords::add(std::string_view text) {
  for (const std::string& word : words_of(text)) words_.insert(with_small_letter(word));
}

std::vector<std::string> KnownWords::unknown_in(std::string_view text) const {
  std::vector<std::string> unknown;
  for (const std::string& word : words_of(text)) {
    const bool is_new = !words_.contains(with_small_letter(word));
    if (is_new && std::ranges::find(unknown, word) == unknown.end()) unknown.push_back(word);
  }
  return unknown;
}

}  // namespace heed::data
