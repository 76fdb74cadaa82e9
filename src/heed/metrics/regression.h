// Scores of a regression: correlations and the squared error of predicted numbers.
#pragma once

#include <span>

namespace heed::metrics {

// All refuse different counts. Correlations are from -1 to 1, and 0 where one side does not vary.

// Of the numbers themselves: 1 if they lie on a rising line.
double pearson_correlation(std::span<const double> right, std::span<const double> given);
// Pearson's of their ranks, equal numbers sharing the mean of theirs: 1 if they are in one order.
double spearman_correlation(std::span<const double> right, std::span<const double> given);

// The mean of (given - right)^2; 0 for none.
double mean_squared_error(std::span<const double> right, std::span<const double> given);

}  // namespace heed::metrics
