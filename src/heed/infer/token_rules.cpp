#include "heed/infer/token_rules.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "heed/base/error.h"
#include "heed/infer/sampling.h"

namespace heed::infer {
namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

void forbid(std::span<float> scores, std::span<const int> tokens) {
  for (const int token : tokens) scores[static_cast<std::size_t>(token)] = minus_infinity;
}

void force(std::span<float> scores, std::span<const int> tokens) {
  std::ranges::fill(scores, minus_infinity);
  for (const int token : tokens) scores[static_cast<std::size_t>(token)] = 0;
}

// A sequence that is longer than the ids is not looked for: so does the reference, too.
void forbid_bad_words(std::span<float> scores, std::span<const int> ids,
                      std::span<const std::vector<int>> bad_words) {
  for (const std::vector<int>& word : bad_words) {
    const std::span<const int> before = std::span(word).first(word.size() - 1);
    const bool is_there = before.empty() || (word.size() <= ids.size() &&
                                             std::ranges::equal(ids.last(before.size()), before));
    if (is_there) forbid(scores, std::span(word).last(1));
  }
}

bool is_too_short(const TokenHistory& history, const models::TokenRules& rules) {
  const Index length = std::ssize(history.ids);
  return length < rules.min_length || length - history.num_prompt < rules.min_new_tokens;
}

// Is this the first token that rules leave open?
bool is_first_choice(const TokenHistory& history, const models::TokenRules& rules) {
  const bool is_forced = history.num_prompt == 1 && rules.forced_begin;
  return std::ssize(history.ids) == history.num_prompt + (is_forced ? 1 : 0);
}

bool is_last(const TokenHistory& history) {
  return std::ssize(history.ids) == history.num_prompt + history.max_new_tokens - 1;
}

void check_ids(std::span<const int> ids, Index vocabulary) {
  for (const int id : ids) {
    check_as(ErrorKind::model, id >= 0 && id < vocabulary,
             "generation_config.json: expected ids of tokens below ", vocabulary, ", found ", id);
  }
}

}  // namespace

bool has_any(const models::TokenRules& rules) { return rules != models::TokenRules{}; }

void apply_rules(std::span<float> scores, const TokenHistory& history,
                 const models::TokenRules& rules, const text::SpecialTokens& tokens) {
  penalise_repetition(scores, history.ids, rules.repetition_penalty);
  forbid_repeated_ngrams(scores, history.ids, rules.no_repeat_ngram);
  forbid_ngrams_of(history.source, scores, history.ids, rules.encoder_no_repeat_ngram);
  forbid_bad_words(scores, history.ids, rules.bad_words);
  if (is_too_short(history, rules)) forbid(scores, tokens.ends);
  if (rules.forced_begin && history.ids.size() == 1) {
    force(scores, std::span(&*rules.forced_begin, 1));
  }
  if (!rules.forced_ends.empty() && is_last(history)) force(scores, rules.forced_ends);
  forbid(scores, rules.suppressed);
  if (is_first_choice(history, rules)) forbid(scores, rules.begin_suppressed);
}

void check_rules(const models::TokenRules& rules, Index vocabulary) {
  const double penalty = rules.repetition_penalty;
  check_as(ErrorKind::usage, penalty > 0 && std::isfinite(penalty),
           "`repetition_penalty`: expected a number above 0, found ", penalty);
  for (const std::vector<int>& word : rules.bad_words) {
    check(!word.empty(), "token rules: expected bad words of at least one token, got an empty one");
    check_ids(word, vocabulary);
  }
  if (rules.forced_begin) check_ids(std::span(&*rules.forced_begin, 1), vocabulary);
  check_ids(rules.forced_ends, vocabulary);
  check_ids(rules.suppressed, vocabulary);
  check_ids(rules.begin_suppressed, vocabulary);
}

}  // namespace heed::infer
