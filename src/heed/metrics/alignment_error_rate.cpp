#include "heed/metrics/alignment_error_rate.h"

#include <charconv>
#include <set>

#include "heed/base/error.h"
#include "heed/metrics/unicode.h"

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

// Takes digits from the front of `text`; false when there are none, or too many.
bool take_number(std::string_view& text, Index& number) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && number >= 0;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return is_number;
}

}  // namespace

ReferenceAlignment parse_reference_alignment(std::string_view line, std::string_view where) {
  ReferenceAlignment reference;
  for (const std::string_view word : split_words(line)) {
    std::string_view rest = word;
    AlignedWords link;
    bool ok = take_number(rest, link.source);
    const char kind = ok && !rest.empty() ? rest.front() : '\0';
    if (kind != '\0') rest.remove_prefix(1);
    ok = (kind == '-' || kind == '?') && take_number(rest, link.target) && rest.empty();
    check_as(ErrorKind::data, ok, where, ": expected links like 0-1 or 0?1, found '", word, "'");
    (kind == '-' ? reference.sure : reference.possible).push_back(link);
  }
  return reference;
}

void AlignmentErrorRate::add(std::span<const AlignedWords> found,
                             const ReferenceAlignment& reference) {
  const Links links = as_set(found), sure = as_set(reference.sure);
  Links possible = as_set(reference.possible);
  possible.insert(sure.begin(), sure.end());
  num_found_ += static_cast<Index>(links.size());
  num_sure_ += static_cast<Index>(sure.size());
  num_found_sure_ += count_in(links, sure);
  num_found_possible_ += count_in(links, possible);
}

double AlignmentErrorRate::precision() const { return share(num_found_possible_, num_found_, 1); }

double AlignmentErrorRate::recall() const { return share(num_found_sure_, num_sure_, 1); }

double AlignmentErrorRate::value() const {
  return 1 - share(num_found_sure_ + num_found_possible_, num_found_ + num_sure_, 1);
}

}  // namespace heed::metrics
