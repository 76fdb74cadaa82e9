#include "heed/metrics/regression.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "heed/base/error.h"

namespace heed::metrics {
namespace {

using Numbers = std::vector<double>;

// Sums of squares 9.2 and 15.2, of products 9.8; of the ranks 1 2.5 2.5 4 5 and 2 1 3.5 3.5 5 these
// are 9.5, 9.5 and 7.25.
TEST(Correlations, SmallValuesByHand) {
  const Numbers right{1, 2, 2, 3, 5}, given{2, 1, 4, 4, 6};
  EXPECT_NEAR(pearson_correlation(right, given), 9.8 / std::sqrt(9.2 * 15.2), 1e-12);
  EXPECT_NEAR(spearman_correlation(right, given), 7.25 / 9.5, 1e-12);
}

TEST(Correlations, AreOneForALineAndForTheSameOrder) {
  const Numbers right{1, 2, 3, 4}, line{10, 20, 30, 40}, falling{3, 1, -1, -3}, curve{1, 4, 9, 90};
  EXPECT_DOUBLE_EQ(pearson_correlation(right, line), 1);
  EXPECT_DOUBLE_EQ(pearson_correlation(right, falling), -1);
  EXPECT_LT(pearson_correlation(right, curve), 0.9);
  EXPECT_DOUBLE_EQ(spearman_correlation(right, curve), 1);
}

TEST(Correlations, AreZeroWhereNothingVaries) {
  const Numbers right{1, 2, 3}, same{5, 5, 5};
  EXPECT_EQ(pearson_correlation(right, same), 0);
  EXPECT_EQ(spearman_correlation(same, right), 0);
  EXPECT_EQ(pearson_correlation({}, {}), 0);
}

TEST(MeanSquaredError, IsTheMeanOfTheSquares) {
  EXPECT_DOUBLE_EQ(mean_squared_error(Numbers{1, 2, 3}, Numbers{1, 4, 2}), 5.0 / 3);
  EXPECT_EQ(mean_squared_error({}, {}), 0);
}

TEST(RegressionScores, RefuseDifferentCounts) {
  const Numbers two{1, 2}, three{1, 2, 3};
  EXPECT_THROW(pearson_correlation(two, three), Error);
  EXPECT_THROW(spearman_correlation(two, three), Error);
  EXPECT_THROW(mean_squared_error(two, three), Error);
}

}  // namespace
}  // namespace heed::metrics
