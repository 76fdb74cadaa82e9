#include "heed/metrics/alignment_error_rate.h"

#include <set>

namespace heed::metrics {
namespace {

using Links = std::set<AlignedWords>;

Links as_set(std::span<const AlignedWords> links) { return {links.begin(), links.end()}; }

Index count_in(const Links& links, const Links& others) {
  Index count = 0;
  for (const AlignedWords& link : links) count += others.contains(link) ? 1 : 0;
  return count;
}

// Without counts there is nothing to get wrong.
double share(Index part, Index whole, double without) {
  return whole == 0 ? without : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

void AlignmentErrorRate::add(std::span<const AlignedWords> alignment,
                             const ReferenceAlignment& reference) {
  const Links links = as_set(alignment), sure = as_set(reference.sure);
  Links possible = as_set(reference.possible);
  possible.insert(sure.begin(), sure.end());
  num_found_ += std::ssize(links);
  num_sure_ += std::ssize(sure);
  num_found_sure_ += count_in(links, sure);
  num_found_possible_ += count_in(links, possible);
}

double AlignmentErrorRate::precision() const { return share(num_found_possible_, num_found_, 1); }

double AlignmentErrorRate::recall() const { return share(num_found_sure_, num_sure_, 1); }

double AlignmentErrorRate::value() const {
  return 1 - share(num_found_sure_ + num_found_possible_, num_found_ + num_sure_, 1);
}

}  // namespace heed::metrics
