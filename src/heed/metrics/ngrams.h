// N-gram matches of two sequences, for every n up to a bound.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heed::metrics {

// The n-grams of one order: how many there are, and how many of the hypothesis are matched.
// An n-gram that occurs k times in the reference is matched at most k times.
struct NgramCounts {
  std::int64_t hypothesis = 0;
  std::int64_t reference = 0;
  std::int64_t matched = 0;
};

// Keeps its memory between calls, so that one matcher should serve a whole corpus.
class NgramMatcher {
 public:
  explicit NgramMatcher(int max_order);

  // counts[n - 1] is about the n-grams of order n; valid until the next call.
  std::span<const NgramCounts> match(std::span<const std::uint32_t> hypothesis,
                                     std::span<const std::uint32_t> reference);

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::int32_t unmatched = 0;  // occurrences in the reference without a partner so far
    bool is_used = false;
  };

  void resize_table(std::size_t num_ngrams);
  std::uint32_t find_slot(std::uint64_t key) const;
  void count_reference(std::span<const std::uint32_t> reference, int order);
  std::int64_t count_matches(std::span<const std::uint32_t> hypothesis, int order);

  std::vector<NgramCounts> counts_;
  std::vector<Slot> table_;
  // For each position, the number of the n-gram that begins there.
  std::vector<std::uint32_t> hypothesis_ngrams_;
  std::vector<std::uint32_t> reference_ngrams_;
};

}  // namespace heed::metrics
