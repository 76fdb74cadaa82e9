#include "heed/train/data_size.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "heed/base/cancellation.h"

namespace heed::train {
namespace {

constexpr Index characters_per_token = 4;
constexpr Index lines_per_longer_one = 200;

Index num_words(std::string_view line) {
  Index words = 0;
  bool is_in_word = false;
  for (const char c : line) {
    const bool is_space = c == ' ' || c == '\t';
    words += !is_space && !is_in_word;
    is_in_word = !is_space;
  }
  return words;
}

Index num_characters(std::string_view line) {
  const auto is_first_byte = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  return std::ranges::count_if(line, is_first_byte);
}

}  // namespace

TextSize text_size(std::span<const std::string> lines) {
  TextSize size{.lines = std::ssize(lines)};
  std::unordered_set<std::string_view> distinct;
  std::vector<Index> lengths;
  lengths.reserve(lines.size());
  for (const std::string& line : lines) {
    check_cancelled(lengths.size());
    lengths.push_back(std::max(num_words(line), num_characters(line) / characters_per_token));
    size.tokens += lengths.back();
    distinct.insert(line);
  }
  size.distinct_lines = std::ssize(distinct);
  if (lengths.empty()) return size;
  const auto last = lengths.end() - 1 - std::ssize(lengths) / lines_per_longer_one;
  std::ranges::nth_element(lengths, last);
  size.most_tokens = *last;
  return size;
}

}  // namespace heed::train
