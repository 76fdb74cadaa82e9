#include "heed/infer/constraints.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <utility>

#include "heed/base/error.h"
#include "heed/text/lines.h"
#include "heed/text/special_tokens.h"

namespace heed::infer {
namespace {

bool holds(std::span<const int> ids, const TokenSequence& sequence) {
  return !sequence.empty() &&
         std::search(ids.begin(), ids.end(), sequence.begin(), sequence.end()) != ids.end();
}

// The length of the longest proper prefix of the sequence with which the ids end.
std::size_t matched_prefix(std::span<const int> ids, const TokenSequence& sequence) {
  for (std::size_t length = std::min(ids.size(), sequence.size() - 1); length > 0; --length) {
    if (std::ranges::equal(ids.last(length), std::span(sequence).first(length))) return length;
  }
  return 0;
}

template <typename T>
void sort_unique(std::vector<T>& values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

TokenSequence tokens_of(const std::string& word, const std::string& spelling, const char* role,
                        const text::Tokenizer& tokenizer) {
  TokenSequence tokens = tokenizer.encode(spelling);
  const bool is_known = std::ranges::count(tokens, tokenizer.tokens().unknown) == 0;
  check_as(ErrorKind::usage, is_known, role, " words: expected a word of the vocabulary, found '",
           word, "'");
  return tokens;
}

// A letter, a digit, or what is not ASCII.
bool starts_like_a_word(const std::string& text) {
  const auto first = static_cast<unsigned char>(text.front());
  return first >= 0x80 || std::isalnum(first) != 0;
}

// Spelled as within a text.
std::string within_text(const std::string& word, const text::Tokenizer& tokenizer) {
  return tokenizer.has_space_before() || !starts_like_a_word(word) ? word : " " + word;
}

void check_words(std::span<const std::string> words, const char* role) {
  check_as(ErrorKind::usage, std::ranges::none_of(words, text::is_blank), role,
           " words: expected a word, found a blank one");
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
  check_words(forbidden, "forbidden");
  check_words(required, "required");
  std::vector<TokenSequence> never, needed;
  std::map<TokenSequence, std::string> words;
  for (const std::string& word : forbidden) {
    never.push_back(tokens_of(word, word, "forbidden", tokenizer));
    never.push_back(tokens_of(word, within_text(word, tokenizer), "forbidden", tokenizer));
  }
  for (const std::string& word : required) {
    needed.push_back(tokens_of(word, within_text(word, tokenizer), "required", tokenizer));
    words.emplace(needed.back(), word);
  }
  Constraints constraints(std::move(never), std::move(needed));
  constraints.words_ = std::move(words);
  return constraints;
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

std::vector<std::string> Constraints::missing_words(std::span<const int> ids) const {
  std::vector<std::string> missing;
  for (const auto& [sequence, word] : words_) {
    if (!holds(ids, sequence)) missing.push_back(word);
  }
  return missing;
}

Index Constraints::num_placed(std::span<const int> ids) const {
  std::size_t count = 0;
  for (const TokenSequence& sequence : required_) {
    count += holds(ids, sequence) ? sequence.size() : matched_prefix(ids, sequence);
  }
  return static_cast<Index>(count);
}

std::vector<int> Constraints::wanted_after(std::span<const int> past) const {
  std::vector<int> tokens;
  for (const TokenSequence& sequence : required_) {
    if (!holds(past, sequence)) tokens.push_back(sequence[matched_prefix(past, sequence)]);
  }
  sort_unique(tokens);
  return tokens;
}

Index Constraints::num_needed(std::span<const int> ids) const {
  std::size_t count = 0, longest_prefix = 0;
  for (const TokenSequence& sequence : required_) {
    if (holds(ids, sequence)) continue;
    count += sequence.size();
    longest_prefix = std::max(longest_prefix, matched_prefix(ids, sequence));
  }
  return static_cast<Index>(count - longest_prefix);
}

std::vector<int> Constraints::required_next(std::span<const int> past, Index num_left) const {
  // A token of no sequence ends every matched prefix.
  std::vector<int> longer(past.begin(), past.end());
  longer.push_back(text::SpecialTokens::none);
  if (num_needed(longer) < num_left) return {};
  std::vector<int> next;
  Index least = std::numeric_limits<Index>::max();
  for (const int token : wanted_after(past)) {
    longer.back() = token;
    const Index needed = num_needed(longer);
    if (needed < least) next.clear();
    if (needed <= least) next.push_back(token);
    least = std::min(least, needed);
  }
  return next;
}

}  // namespace heed::infer
