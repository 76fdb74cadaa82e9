#include "heed/metrics/rouge.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "heed/metrics/ngrams.h"
#include "heed/metrics/porter_stemmer.h"
#include "heed/metrics/references.h"
#include "heed/metrics/unicode.h"
#include "heed/metrics/word_numbers.h"

namespace heed::metrics {
namespace {

// The suffix says that the number did not come from the package itself.
constexpr char rouge_score_version[] = "0.1.2-heed";

constexpr std::size_t min_stemmed_letters = 4;

using Words = std::vector<std::uint32_t>;
using ScoreMember = PrecisionRecall RougeScores::*;
constexpr ScoreMember all_scores[] = {&RougeScores::rouge_1, &RougeScores::rouge_2,
                                      &RougeScores::rouge_l, &RougeScores::rouge_lsum};

bool is_word_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

std::vector<std::string> tokenize(std::string_view text, const RougeOptions& options) {
  std::vector<std::string> words;
  const std::string lowered = lower_case(text);
  for (auto at = lowered.begin(); at != lowered.end();) {
    const auto begin = std::find_if(at, lowered.end(), is_word_letter);
    at = std::find_if_not(begin, lowered.end(), is_word_letter);
    if (begin == at) break;
    std::string word(begin, at);
    const bool is_stemmed = options.stem && word.size() >= min_stemmed_letters;
    words.push_back(is_stemmed ? porter_stem(word) : std::move(word));
  }
  return words;
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// Length of the longest common subsequence, by dynamic programming row by row. `skips`, if given,
// tells for every pair of unequal words which one to leave out, seen from the ends: the
// hypothesis' (true) or the reference's. Of two ways that are as good, the reference's.
std::uint32_t lcs_length(const Words& hypothesis, const Words& reference,
                         std::vector<bool>* skips = nullptr) {
  const std::size_t width = hypothesis.size();
  if (skips) skips->assign(reference.size() * width, false);
  std::vector<std::uint32_t> lengths(width + 1);  // of the first j words and the rows so far
  for (std::size_t i = 0; i < reference.size(); ++i) {
    std::uint32_t diagonal = 0;
    for (std::size_t j = 0; j < width; ++j) {
      const std::uint32_t above = lengths[j + 1], left = lengths[j];
      if (reference[i] == hypothesis[j]) {
        lengths[j + 1] = diagonal + 1;
      } else {
        lengths[j + 1] = std::max(above, left);
        if (skips) (*skips)[i * width + j] = left > above;
      }
      diagonal = above;
    }
  }
  return lengths[width];
}

// Marks the words of the reference that are in its LCS with the hypothesis.
void mark_lcs(const Words& hypothesis, const Words& reference, std::vector<bool>& is_common) {
  std::vector<bool> skips;
  lcs_length(hypothesis, reference, &skips);
  for (std::size_t i = reference.size(), j = hypothesis.size(); i > 0 && j > 0;) {
    if (reference[i - 1] == hypothesis[j - 1]) {
      is_common[--i] = true;
      --j;
    } else if (skips[(i - 1) * hypothesis.size() + j - 1]) {
      --j;
    } else {
      --i;
    }
  }
}

std::int64_t size_of(const Words& words) { return static_cast<std::int64_t>(words.size()); }

// Section 3.2 of the paper. As in ROUGE 1.5.5, a word of the hypothesis is matched once only.
PrecisionRecall score_lines(const std::vector<Words>& hypothesis,
                            const std::vector<Words>& reference) {
  std::int64_t num_hypothesis = 0, num_reference = 0, num_matched = 0;
  std::unordered_map<std::uint32_t, std::int64_t> unmatched;
  for (const Words& line : hypothesis) {
    num_hypothesis += size_of(line);
    for (const std::uint32_t word : line) ++unmatched[word];
  }
  for (const Words& line : reference) {
    num_reference += size_of(line);
    std::vector<bool> is_common(line.size());
    for (const Words& other : hypothesis) mark_lcs(other, line, is_common);
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (!is_common[i] || unmatched[line[i]] == 0) continue;
      --unmatched[line[i]];
      ++num_matched;
    }
  }
  return precision_recall(num_matched, num_hypothesis, num_reference);
}

// Keeps its memory between calls.
class Scorer {
 public:
  explicit Scorer(const RougeOptions& options) : options_(options) {}

  RougeScores score(const std::string& hypothesis, const std::string& reference) {
    const Words found = words_of(hypothesis), right = words_of(reference);
    const auto ngrams = matcher_.match(found, right);
    const auto of_order = [&](std::size_t n) {
      const NgramCounts& counts = ngrams[n - 1];
      return precision_recall(counts.matched, counts.hypothesis, counts.reference);
    };
    RougeScores scores;
    scores.rouge_1 = of_order(1);
    scores.rouge_2 = of_order(2);
    scores.rouge_l = precision_recall(lcs_length(found, right), size_of(found), size_of(right));
    const auto is_one_line = [](const std::string& text) { return text.find('\n') == text.npos; };
    scores.rouge_lsum = is_one_line(hypothesis) && is_one_line(reference)
                            ? scores.rouge_l
                            : score_lines(lines_of(hypothesis), lines_of(reference));
    return scores;
  }

  RougeScores best_score(const std::string& hypothesis, std::span<const std::string> references) {
    check_references("ROUGE", references);
    RougeScores best = score(hypothesis, references.front());
    for (const std::string& reference : references.subspan(1)) {
      const RougeScores scores = score(hypothesis, reference);
      for (const ScoreMember one : all_scores) {
        if ((scores.*one).f1 > (best.*one).f1) best.*one = scores.*one;
      }
    }
    return best;
  }

 private:
  Words words_of(std::string_view text) { return numbers_.of(tokenize(text, options_)); }

  std::vector<Words> lines_of(const std::string& text) {
    std::vector<Words> lines;
    for (const std::string_view line : split_lines(text)) lines.push_back(words_of(line));
    return lines;
  }

  RougeOptions options_;
  WordNumbers numbers_;
  NgramMatcher matcher_{2};
};

template <typename References>
RougeScores mean_score(std::span<const std::string> hypotheses,
                       std::span<const References> references, const RougeOptions& options) {
  check_counts("ROUGE", hypotheses, references);
  RougeScores mean;
  if (hypotheses.empty()) return mean;
  Scorer scorer(options);
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    const RougeScores scores = scorer.best_score(hypotheses[i], references_of(references[i]));
    for (const ScoreMember one : all_scores) {
      (mean.*one).precision += (scores.*one).precision;
      (mean.*one).recall += (scores.*one).recall;
      (mean.*one).f1 += (scores.*one).f1;
    }
  }
  const auto count = static_cast<double>(hypotheses.size());
  for (const ScoreMember one : all_scores) {
    (mean.*one).precision /= count;
    (mean.*one).recall /= count;
    (mean.*one).f1 /= count;
  }
  return mean;
}

}  // namespace

RougeScores rouge(const std::string& hypothesis, const std::string& reference,
                  const RougeOptions& options) {
  return Scorer(options).score(hypothesis, reference);
}

RougeScores rouge(const std::string& hypothesis, std::span<const std::string> references,
                  const RougeOptions& options) {
  return Scorer(options).best_score(hypothesis, references);
}

RougeScores corpus_rouge(std::span<const std::string> hypotheses,
                         std::span<const std::string> references, const RougeOptions& options) {
  return mean_score(hypotheses, references, options);
}

RougeScores corpus_rouge(std::span<const std::string> hypotheses,
                         std::span<const std::vector<std::string>> references,
                         const RougeOptions& options) {
  return mean_score(hypotheses, references, options);
}

std::string rouge_signature(const RougeOptions& options) {
  return std::string("nrefs:1|stem:") + (options.stem ? "porter" : "no") +
         "|agg:mean|version:" + rouge_score_version;
}

}  // namespace heed::metrics
