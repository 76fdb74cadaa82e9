// How far word alignments are from those that people made (Och and Ney 2003, section 6).
#pragma once

#include <compare>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/index.h"

namespace heed::metrics {

// One pair of the Pharaoh format, `0-1`: words by number, from 0, as white space separates them.
struct AlignedWords {
  Index source = 0;
  Index target = 0;

  friend auto operator<=>(const AlignedWords&, const AlignedWords&) = default;
};

// Links that must be found, and others that may be.
struct ReferenceAlignment {
  std::vector<AlignedWords> sure;
  std::vector<AlignedWords> possible;  // sure ones need not be listed again
};

// "0-0 2-1 3?1": sure links have a dash, possible ones a question mark. Refuses anything else
// (ErrorKind::data); `where` begins the message.
ReferenceAlignment parse_reference_alignment(std::string_view line, std::string_view where);

// Counts over the sentences of a corpus. With A the links that were found, S the sure ones and P
// the sure and possible ones, a link that is listed twice counting once:
class AlignmentErrorRate {
 public:
  void add(std::span<const AlignedWords> found, const ReferenceAlignment& reference);

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
