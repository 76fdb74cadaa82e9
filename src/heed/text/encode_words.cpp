#include "heed/text/encode_words.h"

#include <algorithm>

#include "heed/base/cancellation.h"

namespace heed::text {
namespace {

constexpr std::string_view white_space = " \t\r\n\v\f";

}  // namespace

std::vector<std::string> split_words(std::string_view line) {
  std::vector<std::string> words;
  for (;;) {
    const std::size_t begin = line.find_first_not_of(white_space);
    if (begin == std::string_view::npos) return words;
    line.remove_prefix(begin);
    const std::size_t length = std::min(line.find_first_of(white_space), line.size());
    words.emplace_back(line.substr(0, length));
    line.remove_prefix(length);
  }
}

std::string join_words(std::span<const std::string> words) {
  std::string line;
  for (const std::string& word : words) line.append(line.empty() ? "" : " ").append(word);
  return line;
}

EncodedWords encode_words(std::span<const std::string> words, const Tokenizer& tokenizer) {
  EncodedWords encoded;
  for (const std::string& word : words) {
    const bool needs_space = !encoded.ids.empty() && !tokenizer.has_space_before();
    const std::vector<int> ids = tokenizer.encode(needs_space ? ' ' + word : word);
    encoded.first_token.push_back(std::ssize(encoded.ids));
    encoded.ids.insert(encoded.ids.end(), ids.begin(), ids.end());
    if (ids.empty()) encoded.ids.push_back(Tokenizer::unknown);
  }
  if (!words.empty()) encoded.ids.push_back(Tokenizer::end);
  return encoded;
}

std::vector<EncodedWords> encode_words(std::span<const std::vector<std::string>> lines,
                                       const Tokenizer& tokenizer) {
  constexpr Index lines_per_piece = 64;
  std::vector<EncodedWords> encoded(lines.size());
  cancellable_ranges(std::ssize(lines), lines_per_piece, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) encoded[i] = encode_words(lines[i], tokenizer);
  });
  return encoded;
}

}  // namespace heed::text
