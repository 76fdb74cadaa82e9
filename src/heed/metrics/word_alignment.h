// Word alignments in the Pharaoh format: "0-0 1-2".
#pragma once

#include <compare>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/index.h"

namespace heed::metrics {

// One link, `0-1`: words by number, from 0, as white space separates them.
struct AlignedWords {
  Index source = 0;
  Index target = 0;

  friend auto operator<=>(const AlignedWords&, const AlignedWords&) = default;
};

std::string to_pharaoh(std::span<const AlignedWords> alignment);

// Refuses anything else (ErrorKind::data); `where` is the start of the message.
std::vector<AlignedWords> parse_pharaoh(std::string_view line, std::string_view where);

// An alignment made by people: links that must be found, and others that may be.
struct ReferenceAlignment {
  std::vector<AlignedWords> sure;
  std::vector<AlignedWords> possible;  // sure ones need not be listed again
};

// "0-0 2-1 3?1": sure links have a dash, possible ones a question mark. Refuses anything else
// (ErrorKind::data). No part of the library reads such files; bench/end_to_end/alignment_error
// does.
ReferenceAlignment parse_reference_alignment(std::string_view line, std::string_view where);

}  // namespace heed::metrics
