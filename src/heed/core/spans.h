// Packed sequences: the rows of each one in a tensor.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "heed/core/tensor.h"

namespace heed {

struct Span {
  Index begin = 0;
  Index length = 0;
};

// The sequences of a batch. Laid end to end they come from lengths; a caller that uses
// some of them, or one of them several times, lists the spans itself. Copies share the list.
class Spans {
 public:
  Spans() : Spans(std::vector<Span>{}) {}
  explicit Spans(std::vector<Span> spans)
      : spans_(std::make_shared<const std::vector<Span>>(std::move(spans))) {}

  static Spans of_lengths(std::span<const Index> lengths) {
    std::vector<Span> spans;
    Index begin = 0;
    for (const Index length : lengths) {
      spans.push_back({begin, length});
      begin += length;
    }
    return Spans(std::move(spans));
  }
  static Spans single(Index length) { return Spans({{0, length}}); }

  Index count() const { return std::ssize(*spans_); }
  const Span& operator[](Index sequence) const { return (*spans_)[sequence]; }
  auto begin() const { return spans_->begin(); }
  auto end() const { return spans_->end(); }

  Index num_tokens() const {
    Index total = 0;
    for (const Span& span : *spans_) total += span.length;
    return total;
  }
  Index max_length() const {
    Index longest = 0;
    for (const Span& span : *spans_) longest = std::max(longest, span.length);
    return longest;
  }
  // One past the last row that any sequence uses.
  Index end_row() const {
    Index end = 0;
    for (const Span& span : *spans_) end = std::max(end, span.begin + span.length);
    return end;
  }

 private:
  std::shared_ptr<const std::vector<Span>> spans_;
};

// Rows of several sequences, [N, D], and the span of each sequence.
struct Packed {
  Tensor values;
  Spans spans;
};

}  // namespace heed
