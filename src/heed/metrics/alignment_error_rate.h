// Alignment error rate: how far word alignments are from those that people made (Och and Ney 2003,
// section 6).
#pragma once

#include <span>

#include "heed/metrics/word_alignment.h"

namespace heed::metrics {

// Counts over the sentences of a corpus. With A the links that were found, S the sure ones and P
// the sure and possible ones, a link that is listed twice counting once:
class AlignmentErrorRate {
 public:
  void add(std::span<const AlignedWords> alignment, const ReferenceAlignment& reference);

  double precision() const;  // |A and P| / |A|
  double recall() const;     // |A and S| / |S|
  double value() const;      // 1 - (|A and S| + |A and P|) / (|A| + |S|); 0 is perfect, 1 is none

 private:
  Index num_found_ = 0;
  Index num_sure_ = 0;
  Index num_found_sure_ = 0;
  Index num_found_possible_ = 0;
};

}  // namespace heed::metrics
