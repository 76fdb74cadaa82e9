#include "heed/metrics/classification.h"

#include "heed/base/error.h"

namespace heed::metrics {
namespace {

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

void check_class(int one, int num_classes) {
  check(one >= 0 && one < num_classes, "confusion table: expected classes below ", num_classes,
        ", got ", one);
}

}  // namespace

ConfusionTable::ConfusionTable(std::span<const int> right, std::span<const int> given,
                               int num_classes)
    : num_classes_(num_classes),
      counts_(static_cast<std::size_t>(num_classes) * static_cast<std::size_t>(num_classes)) {
  check(right.size() == given.size(), "confusion table: expected as many right as given classes, ",
        "got ", right.size(), " and ", given.size());
  for (std::size_t i = 0; i < right.size(); ++i) {
    check_class(right[i], num_classes);
    check_class(given[i], num_classes);
    ++counts_[static_cast<std::size_t>(right[i]) * num_classes_ + given[i]];
  }
}

std::int64_t ConfusionTable::num_right(int of_class) const {
  std::int64_t sum = 0;
  for (int given = 0; given < num_classes_; ++given) sum += count(of_class, given);
  return sum;
}

std::int64_t ConfusionTable::num_given(int of_class) const {
  std::int64_t sum = 0;
  for (int right = 0; right < num_classes_; ++right) sum += count(right, of_class);
  return sum;
}

std::int64_t ConfusionTable::num_lines() const {
  std::int64_t sum = 0;
  for (const std::int64_t count : counts_) sum += count;
  return sum;
}

std::int64_t ConfusionTable::num_correct() const {
  std::int64_t sum = 0;
  for (int one = 0; one < num_classes_; ++one) sum += count(one, one);
  return sum;
}

double accuracy(const ConfusionTable& table) {
  return share(table.num_correct(), table.num_lines());
}

// F1 = 2 P R / (P + R) = 2 correct / (right + given), which needs no case for P + R = 0.
PrecisionRecall class_scores(const ConfusionTable& table, int of_class) {
  const std::int64_t correct = table.count(of_class, of_class);
  const std::int64_t right = table.num_right(of_class), given = table.num_given(of_class);
  return {share(correct, given), share(correct, right), share(2 * correct, right + given)};
}

double macro_f1(const ConfusionTable& table) {
  double sum = 0;
  int num_seen = 0;
  for (int one = 0; one < table.num_classes(); ++one) {
    if (table.num_right(one) + table.num_given(one) == 0) continue;
    sum += class_scores(table, one).f1;
    ++num_seen;
  }
  return num_seen == 0 ? 0 : sum / num_seen;
}

}  // namespace heed::metrics
