// Scores of sets of labels, for texts that have any number of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/metrics/precision_recall.h"

namespace heed::metrics {

using LabelSet = std::vector<int>;  // numbers of labels, ascending, each once

// For each label, how many texts have it, were given it, and both.
class LabelCounts {
 public:
  // Labels in [0, num_labels). Refuses other labels, sets out of order and different counts.
  LabelCounts(std::span<const LabelSet> right, std::span<const LabelSet> given, int num_labels);

  int num_labels() const { return static_cast<int>(labels_.size()); }
  std::int64_t num_right(int label) const { return labels_[label].right; }
  bool occurs(int label) const { return labels_[label].right + labels_[label].given > 0; }
  std::int64_t num_texts() const { return num_texts_; }
  std::int64_t num_exact() const { return num_exact_; }  // texts with the right set

  PrecisionRecall scores(int label) const;
  PrecisionRecall micro() const;  // of all labels of all texts together

 private:
  struct OfLabel {
    std::int64_t matched = 0, given = 0, right = 0;
  };
  std::vector<OfLabel> labels_;
  std::int64_t num_texts_ = 0;
  std::int64_t num_exact_ = 0;
};

// The mean F1 of the labels that occur, right or given: a rare label counts like a frequent one.
double macro_f1(const LabelCounts& counts);
// The share of texts with exactly the right set; 0 for no text.
double subset_accuracy(const LabelCounts& counts);

}  // namespace heed::metrics
