#include "heed/metrics/answers.h"

#include <algorithm>

#include "heed/metrics/ngrams.h"
#include "heed/metrics/precision_recall.h"
#include "heed/metrics/references.h"
#include "heed/metrics/unicode.h"
#include "heed/metrics/word_numbers.h"

namespace heed::metrics {
namespace {

template <typename References>
std::int64_t count_matches(std::span<const std::string> answers,
                           std::span<const References> references,
                           const ExactMatchOptions& options) {
  check_counts("exact match", answers, references);
  std::int64_t count = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    count += is_exact_match(answers[i], references_of(references[i]), options);
  }
  return count;
}

bool is_ascii_punctuation(char32_t c) {
  constexpr std::u32string_view all = U"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
  return all.find(c) != all.npos;
}

bool is_article(std::u32string_view word) {
  return word == U"a" || word == U"an" || word == U"the";
}

// Splits a normalised text at its single spaces.
std::vector<std::string> words_of(const std::string& normalized) {
  const auto words = split_words(normalized);
  return {words.begin(), words.end()};
}

double word_f1(const std::string& answer, const std::string& reference) {
  if (answer.empty() || reference.empty()) return answer == reference;
  WordNumbers numbers;
  NgramMatcher matcher(1);
  const auto found = numbers.of(words_of(answer)), right = numbers.of(words_of(reference));
  const NgramCounts counts = matcher.match(found, right).front();
  return precision_recall(counts.matched, counts.hypothesis, counts.reference).f1;
}

template <typename References>
SquadScores mean_squad(std::span<const std::string> answers,
                       std::span<const References> references) {
  check_counts("SQuAD", answers, references);
  SquadScores mean;
  if (answers.empty()) return mean;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const SquadScores scores = squad(answers[i], references_of(references[i]));
    mean.exact_match += scores.exact_match;
    mean.f1 += scores.f1;
  }
  mean.exact_match /= static_cast<double>(answers.size());
  mean.f1 /= static_cast<double>(answers.size());
  return mean;
}

}  // namespace

bool is_exact_match(std::string_view answer, std::span<const std::string> references,
                    const ExactMatchOptions& options) {
  check_references("exact match", references);
  const auto canonical = [&](std::string_view text) {
    return options.lowercase ? lower_case(trim(text)) : std::string(trim(text));
  };
  return std::ranges::any_of(references, [&, found = canonical(answer)](const auto& reference) {
    return canonical(reference) == found;
  });
}

std::int64_t count_exact_matches(std::span<const std::string> answers,
                                 std::span<const std::string> references,
                                 const ExactMatchOptions& options) {
  return count_matches(answers, references, options);
}

std::int64_t count_exact_matches(std::span<const std::string> answers,
                                 std::span<const std::vector<std::string>> references,
                                 const ExactMatchOptions& options) {
  return count_matches(answers, references, options);
}

std::string exact_match_signature(const ExactMatchOptions& options) {
  return std::string("nrefs:1|case:") + (options.lowercase ? "lc" : "mixed");
}

// An article ends where Python's \b does, at anything but a letter or a number: a long dash and a
// combining accent end it, too.
std::string normalize_answer(std::string_view text) {
  std::u32string letters = decode_utf8(lower_case(text));
  std::erase_if(letters, is_ascii_punctuation);
  const auto is_in_word = [](char32_t c) { return is_letter(c) || is_number(c); };
  std::u32string kept;
  for (auto at = letters.begin(); at != letters.end();) {
    const auto end = std::find_if_not(at, letters.end(), is_in_word);
    const std::u32string_view word(at, end);
    kept += is_article(word) ? U" " : word;
    at = end;
    if (at != letters.end()) kept += *at++;
  }
  std::string normalized;
  const std::string spaced = encode_utf8(kept);
  for (const std::string_view word : split_words(spaced)) {
    normalized.append(normalized.empty() ? "" : " ").append(word);
  }
  return normalized;
}

SquadScores squad(std::string_view answer, std::span<const std::string> references) {
  check_references("SQuAD", references);
  std::vector<std::string> right;
  for (const std::string& reference : references) right.push_back(normalize_answer(reference));
  std::erase(right, "");
  if (right.empty()) right.emplace_back();
  const std::string found = normalize_answer(answer);
  SquadScores best;
  for (const std::string& reference : right) {
    if (found == reference) best.exact_match = 1;
    best.f1 = std::max(best.f1, word_f1(found, reference));
  }
  return best;
}

SquadScores corpus_squad(std::span<const std::string> answers,
                         std::span<const std::string> references) {
  return mean_squad(answers, references);
}

SquadScores corpus_squad(std::span<const std::string> answers,
                         std::span<const std::vector<std::string>> references) {
  return mean_squad(answers, references);
}

std::string squad_signature() { return "nrefs:1|version:2.0-heed"; }

}  // namespace heed::metrics
