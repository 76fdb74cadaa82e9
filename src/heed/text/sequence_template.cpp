#include "heed/text/sequence_template.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/text/special_tokens.h"

namespace heed::text {
namespace {

void append(std::vector<int>& to, std::span<const int> ids) {
  to.insert(to.end(), ids.begin(), ids.end());
}

}  // namespace

std::vector<int> SequenceTemplate::single(std::span<const int> text) const {
  std::vector<int> sequence = prefix;
  append(sequence, text);
  append(sequence, suffix);
  return sequence;
}

std::vector<int> SequenceTemplate::pair(std::span<const int> first,
                                        std::span<const int> second) const {
  check_as(ErrorKind::model, between.has_value(),
           "tokenizer: expected a template for pairs of texts, found one for single texts");
  std::vector<int> sequence = prefix;
  append(sequence, first);
  append(sequence, *between);
  append(sequence, second);
  append(sequence, suffix);
  return sequence;
}

Index SequenceTemplate::end_of_first(std::span<const int> sequence) const {
  const auto end = sequence.end() - std::min(std::ssize(suffix), std::ssize(sequence));
  if (!between || between->empty()) return end - sequence.begin();
  const auto begin = sequence.begin() + std::min(std::ssize(prefix), std::ssize(sequence));
  const auto match = std::search(begin, sequence.end(), between->begin(), between->end());
  return std::min(match, end) - sequence.begin();
}

std::vector<int> SequenceTemplate::types(std::span<const int> sequence) const {
  if (!has_types()) return {};
  std::vector<int> types(sequence.size(), second_type);
  const Index first = end_of_first(sequence), length = std::ssize(types);
  const Index second = std::min(first + (between ? std::ssize(*between) : 0), length);
  std::fill_n(types.begin(), first, first_type);
  // A text alone ends where two of them would be parted.
  const bool is_single = second + std::ssize(suffix) > length;
  std::fill(types.begin() + first, types.begin() + second, is_single ? first_type : between_type);
  return types;
}

bool SequenceTemplate::truncate(std::vector<int>& sequence, Index max_tokens) const {
  if (std::ssize(sequence) <= max_tokens) return false;
  const Index kept = std::max(std::ssize(prefix), max_tokens - std::ssize(suffix));
  sequence.erase(sequence.begin() + kept, sequence.end() - std::ssize(suffix));
  return true;
}

bool SequenceTemplate::truncate_pair(std::vector<int>& sequence, Index max_tokens) const {
  if (std::ssize(sequence) <= max_tokens) return false;
  const Index num_between = between ? std::ssize(*between) : 0;
  const Index first = end_of_first(sequence) - std::ssize(prefix);
  const Index second = std::ssize(sequence) - num_added() - num_between - first;
  const Index room = std::max<Index>(max_tokens - num_added() - num_between, 0);
  const Index kept_first = std::min(first, std::max((room + 1) / 2, room - second));
  const Index kept_second = std::min(second, room - kept_first);
  const auto begin = sequence.begin() + std::ssize(prefix);
  sequence.erase(begin + first + num_between + kept_second, sequence.end() - std::ssize(suffix));
  sequence.erase(begin + kept_first, begin + first);
  return true;
}

SequenceTemplate own_sequence() {
  return {.suffix = {own_tokens::end}, .between = std::vector{own_tokens::end}};
}

}  // namespace heed::text
