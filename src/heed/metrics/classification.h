// Accuracy, F1 and the confusion matrix of a classifier.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/metrics/precision_recall.h"

namespace heed::metrics {

// How many lines of each right class were given each class: rows are right, columns are given.
class ConfusionTable {
 public:
  // Classes in [0, num_classes). Refuses other classes and different counts.
  ConfusionTable(std::span<const int> right, std::span<const int> given, int num_classes);

  int num_classes() const { return num_classes_; }
  std::int64_t count(int right, int given) const {
    return counts_[static_cast<std::size_t>(right) * num_classes_ + given];
  }
  std::int64_t num_right(int of_class) const;  // lines that are of the class
  std::int64_t num_given(int of_class) const;  // lines that were given it
  std::int64_t num_lines() const;
  std::int64_t num_correct() const;

 private:
  int num_classes_;
  std::vector<std::int64_t> counts_;
};

// All from 0 to 1. What has no lines to be counted over is 0.
double accuracy(const ConfusionTable& table);
// Found are the lines that were given the class, right those that are of it.
PrecisionRecall class_scores(const ConfusionTable& table, int of_class);
// The mean F1 of the classes that occur, right or given: a rare class counts like a frequent one.
double macro_f1(const ConfusionTable& table);

}  // namespace heed::metrics
