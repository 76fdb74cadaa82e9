#include "heed/metrics/multi_label.h"

#include <algorithm>
#include <functional>

#include "heed/base/error.h"

namespace heed::metrics {
namespace {

void check_set(const LabelSet& set, int num_labels) {
  const bool is_ascending = std::ranges::adjacent_find(set, std::greater_equal()) == set.end();
  check(is_ascending && (set.empty() || (set.front() >= 0 && set.back() < num_labels)),
        "label counts: expected ascending labels below ", num_labels, ", got others");
}

}  // namespace

LabelCounts::LabelCounts(std::span<const LabelSet> right, std::span<const LabelSet> given,
                         int num_labels)
    : labels_(static_cast<std::size_t>(num_labels)),
      num_texts_(static_cast<std::int64_t>(right.size())) {
  check(right.size() == given.size(), "label counts: expected as many right as given sets, got ",
        right.size(), " and ", given.size());
  for (std::size_t i = 0; i < right.size(); ++i) {
    check_set(right[i], num_labels);
    check_set(given[i], num_labels);
    num_exact_ += right[i] == given[i];
    for (const int label : right[i]) ++labels_[label].right;
    for (const int label : given[i]) {
      ++labels_[label].given;
      labels_[label].matched += std::ranges::binary_search(right[i], label);
    }
  }
}

PrecisionRecall LabelCounts::scores(int label) const {
  const OfLabel& one = labels_[label];
  return precision_recall(one.matched, one.given, one.right);
}

PrecisionRecall LabelCounts::micro() const {
  OfLabel all;
  for (const OfLabel& one : labels_) {
    all.matched += one.matched;
    all.given += one.given;
    all.right += one.right;
  }
  return precision_recall(all.matched, all.given, all.right);
}

double macro_f1(const LabelCounts& counts) {
  double sum = 0;
  int num_seen = 0;
  for (int label = 0; label < counts.num_labels(); ++label) {
    if (!counts.occurs(label)) continue;
    sum += counts.scores(label).f1;
    ++num_seen;
  }
  return num_seen == 0 ? 0 : sum / num_seen;
}

double subset_accuracy(const LabelCounts& counts) {
  if (counts.num_texts() == 0) return 0;
  return static_cast<double>(counts.num_exact()) / static_cast<double>(counts.num_texts());
}

}  // namespace heed::metrics
