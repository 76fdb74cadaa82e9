#include "heed/metrics/regression.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "heed/base/error.h"

namespace heed::metrics {
namespace {

void check_counts(std::span<const double> right, std::span<const double> given) {
  check(right.size() == given.size(), "regression: expected as many right as given numbers, got ",
        right.size(), " and ", given.size());
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// From 1. Equal values have the mean of the ranks that they take together.
std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double rank = static_cast<double>(begin + 1 + end) / 2;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = rank;
  }
  return ranks;
}

}  // namespace

double pearson_correlation(std::span<const double> right, std::span<const double> given) {
  check_counts(right, given);
  if (right.empty()) return 0;
  const double mean_right = mean(right), mean_given = mean(given);
  double covariance = 0, variance_right = 0, variance_given = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    const double x = right[i] - mean_right, y = given[i] - mean_given;
    covariance += x * y;
    variance_right += x * x;
    variance_given += y * y;
  }
  const double both = std::sqrt(variance_right) * std::sqrt(variance_given);
  return both == 0 ? 0 : std::clamp(covariance / both, -1.0, 1.0);
}

double spearman_correlation(std::span<const double> right, std::span<const double> given) {
  check_counts(right, given);
  return pearson_correlation(ranks_of(right), ranks_of(given));
}

double mean_squared_error(std::span<const double> right, std::span<const double> given) {
  check_counts(right, given);
  if (right.empty()) return 0;
  double sum = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    sum += (given[i] - right[i]) * (given[i] - right[i]);
  }
  return sum / static_cast<double>(right.size());
}

}  // namespace heed::metrics
