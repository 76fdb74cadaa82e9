#include "heed/generate/constraints.h"

#include <algorithm>
#include <limits>

#include "heed/base/error.h"
#include "heed/text/lines.h"

namespace heed::generate {
namespace {

bool holds(std::span<const int> ids, const TokenSequence& sequence) {
  return !std::ranges::search(ids, sequence).empty();
}

// With how many tokens of the sequence's beginning, fewer than all, do the ids end?
std::size_t length_of_beginning(std::span<const int> ids, const TokenSequence& sequence) {
  for (std::size_t length = std::min(ids.size(), sequence.size() - 1); length > 0; --length) {
    if (std::ranges::equal(ids.last(length), std::span(sequence).first(length))) return length;
  }
  return 0;
}

template <typename T>
void sort_unique(std::vector<T>& values) {
  std::ranges::sort(values);
  const auto repeated = std::ranges::unique(values);
  values.erase(repeated.begin(), repeated.end());
}

std::vector<TokenSequence> tokens_of(std::span<const std::string> words, const char* role,
                                     const text::Tokenizer& tokenizer) {
  std::vector<TokenSequence> sequences;
  for (const std::string& word : words) {
    check_as(ErrorKind::usage, !text::is_blank(word), role,
             " words: expected a word, found a blank one");
    sequences.push_back(tokenizer.encode(word));
    const bool is_known = std::ranges::count(sequences.back(), text::Tokenizer::unknown) == 0;
    check_as(ErrorKind::usage, is_known, role, " words: expected a word of the vocabulary, found '",
             word, "'");
  }
  return sequences;
}

}  // namespace

Constraints::Constraints(std::vector<TokenSequence> forbidden, std::vector<TokenSequence> required)
    : forbidden_(std::move(forbidden)), required_(std::move(required)) {
  sort_unique(forbidden_);
  sort_unique(required_);
  for (const std::vector<TokenSequence>* sequences : {&forbidden_, &required_}) {
    check_as(ErrorKind::usage, sequences->empty() || !sequences->front().empty(),
             "constraints: expected sequences of at least one token, found an empty one");
  }
  for (const TokenSequence& sequence : required_) {
    const auto is_inside = [&](const TokenSequence& other) { return holds(sequence, other); };
    check_as(ErrorKind::usage, std::ranges::none_of(forbidden_, is_inside),
             "constraints: expected required words without forbidden ones, found one with both");
  }
}

Constraints Constraints::of_words(std::span<const std::string> forbidden,
                                  std::span<const std::string> required,
                                  const text::Tokenizer& tokenizer) {
  return {tokens_of(forbidden, "forbidden", tokenizer), tokens_of(required, "required", tokenizer)};
}

std::vector<int> Constraints::forbidden_after(std::span<const int> past) const {
  std::vector<int> tokens;
  for (const TokenSequence& sequence : forbidden_) {
    const std::span<const int> before = std::span(sequence).first(sequence.size() - 1);
    if (past.size() >= before.size() && std::ranges::equal(past.last(before.size()), before)) {
      tokens.push_back(sequence.back());
    }
  }
  sort_unique(tokens);
  return tokens;
}

void Constraints::forbid(std::span<float> logits, std::span<const int> past) const {
  for (const int token : forbidden_after(past)) {
    logits[static_cast<std::size_t>(token)] = -std::numeric_limits<float>::infinity();
  }
}

Index Constraints::num_missing(std::span<const int> ids) const {
  return std::ranges::count_if(
      required_, [&](const TokenSequence& sequence) { return !holds(ids, sequence); });
}

Index Constraints::num_placed(std::span<const int> ids) const {
  std::size_t count = 0;
  for (const TokenSequence& sequence : required_) {
    count += holds(ids, sequence) ? sequence.size() : length_of_beginning(ids, sequence);
  }
  return static_cast<Index>(count);
}

std::vector<int> Constraints::wanted_after(std::span<const int> past) const {
  std::vector<int> tokens;
  for (const TokenSequence& sequence : required_) {
    if (!holds(past, sequence)) tokens.push_back(sequence[length_of_beginning(past, sequence)]);
  }
  sort_unique(tokens);
  return tokens;
}

}  // namespace heed::generate
