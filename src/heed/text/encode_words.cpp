#include "heed/text/encode_words.h"

#include <algorithm>

#include "heed/base/cancellation.h"

namespace heed::text {
namespace {

constexpr std::string_view white_space = " \t\r\n\v\f";

// For a word that has no tokens: the unknown one or, where a tokenizer knows all, one of no text.
int token_without_text(const Tokenizer& tokenizer) {
  const SpecialTokens& tokens = tokenizer.tokens();
  return tokens.unknown >= 0 ? tokens.unknown : std::max({tokens.pad, tokens.begin, 0});
}

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
  if (words.empty()) return {};
  const SequenceTemplate& sequence = tokenizer.sequence();
  EncodedWords encoded{.ids = sequence.prefix, .first_token = {}};
  for (const std::string& word : words) {
    const bool needs_space = !encoded.first_token.empty() && !tokenizer.has_space_before();
    const std::vector<int> ids = tokenizer.encode(needs_space ? ' ' + word : word);
    encoded.first_token.push_back(std::ssize(encoded.ids));
    encoded.ids.insert(encoded.ids.end(), ids.begin(), ids.end());
    if (ids.empty()) encoded.ids.push_back(token_without_text(tokenizer));
  }
  encoded.ids.insert(encoded.ids.end(), sequence.suffix.begin(), sequence.suffix.end());
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
