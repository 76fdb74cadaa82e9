// Answers compared with the right ones: exact match, and the word F1 of SQuAD.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed::metrics {

struct ExactMatchOptions {
  bool lowercase = false;
};

// Whether the answer equals one of the references, but for space at both ends. Refuses no
// references.
bool is_exact_match(std::string_view answer, std::span<const std::string> references,
                    const ExactMatchOptions& options = {});

// How many answers match. Refuses different counts.
std::int64_t count_exact_matches(std::span<const std::string> answers,
                                 std::span<const std::string> references,
                                 const ExactMatchOptions& options = {});
// With several references for each answer.
std::int64_t count_exact_matches(std::span<const std::string> answers,
                                 std::span<const std::vector<std::string>> references,
                                 const ExactMatchOptions& options = {});

// How a score was computed, in the manner of bleu_signature.
std::string exact_match_signature(const ExactMatchOptions& options);

// From 0 to 1.
struct SquadScores {
  double exact_match = 0;  // of the normalised answers
  double f1 = 0;           // of the words that answer and reference have in common
};

// Lower case; without ASCII punctuation, the articles a, an and the, and repeated space.
std::string normalize_answer(std::string_view text);

// Equals the evaluation of SQuAD 2.0 (Rajpurkar and others, 2018): each of the two by the reference
// that is best for it. An answer without words matches a reference without words; references
// without words count only if there are no others. Refuses no references.
SquadScores squad(std::string_view answer, std::span<const std::string> references);

// Means over the answers; 0 without any. Refuses different counts.
SquadScores corpus_squad(std::span<const std::string> answers,
                         std::span<const std::string> references);
// With several references for each answer.
SquadScores corpus_squad(std::span<const std::string> answers,
                         std::span<const std::vector<std::string>> references);

// "nrefs:1|version:2.0-heed"; see bleu_signature.
std::string squad_signature();

}  // namespace heed::metrics
