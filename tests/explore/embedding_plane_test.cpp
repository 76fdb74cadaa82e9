#include "heed/explore/embedding_plane.h"

#include <gtest/gtest.h>

#include <cmath>

#include "explore/small_folders.h"
#include "heed/base/cancellation.h"
#include "heed/base/error.h"
#include "support/sample.h"

namespace heed::explore {
namespace {

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

TEST(EmbeddingPlane, FindsAxesThatWereDoneByHand) {
  // Around (1, 2, 3): 3 along (3, 4, 0) / 5, 1 along (4, -3, 0) / 5, both ways.
  const Tensor table = Tensor::from({2.8f, 4.4f, 3, -0.8f, -0.4f, 3,  //
                                     1.8f, 1.4f, 3, 0.2f, 2.6f, 3},
                                    {4, 3});
  const EmbeddingPlane plane(table);
  EXPECT_NEAR(plane.explained()[0], 0.9, 1e-6);
  EXPECT_NEAR(plane.explained()[1], 0.1, 1e-6);
  const std::vector<double> expected[2] = {{0.6, 0.8, 0}, {0.8, -0.6, 0}};
  for (const int axis : {0, 1}) {
    for (const int i : {0, 1, 2}) EXPECT_NEAR(plane.axes()[axis][i], expected[axis][i], 1e-6);
  }
  EXPECT_NEAR(plane.mean()[1], 2, 1e-6);
  const float point[] = {1.6f, 2.8f, 100};
  EXPECT_NEAR(plane.project(point).x, 1, 1e-6);
  EXPECT_NEAR(plane.project(point).y, 0, 1e-6);
}

TEST(EmbeddingPlane, AxesAreAsLongAsOneAndAtRightAngles) {
  const EmbeddingPlane plane(sample({50, 16}));
  EXPECT_NEAR(dot(plane.axes()[0], plane.axes()[0]), 1, 1e-12);
  EXPECT_NEAR(dot(plane.axes()[1], plane.axes()[1]), 1, 1e-12);
  EXPECT_NEAR(dot(plane.axes()[0], plane.axes()[1]), 0, 1e-12);
  EXPECT_GE(plane.explained()[0], plane.explained()[1]);
  for (const auto& axis : plane.axes()) {
    const double largest = *std::ranges::max_element(
        axis, [](double a, double b) { return std::abs(a) < std::abs(b); });
    EXPECT_GT(largest, 0);
  }
}

// No direction beside the two has more variance than they have.
TEST(EmbeddingPlane, NoOtherDirectionExplainsMore) {
  const Tensor table = sample({80, 8}, 3);
  const EmbeddingPlane plane(table);
  const auto explained_by = [&](const std::vector<double>& axis) {
    double along = 0, total = 0;
    for (Index row = 0; row < 80; ++row) {
      double part = 0;
      for (Index i = 0; i < 8; ++i) {
        const double centred = table.values()[row * 8 + i] - plane.mean()[i];
        part += centred * axis[i];
        total += centred * centred;
      }
      along += part * part;
    }
    return along / total;
  };
  EXPECT_NEAR(explained_by(plane.axes()[0]), plane.explained()[0], 1e-9);
  Rng rng(5);
  for (int direction = 0; direction < 200; ++direction) {
    std::vector<double> axis(8);
    for (double& value : axis) value = rng.normal();
    const double length = std::sqrt(dot(axis, axis));
    for (double& value : axis) value /= length;
    EXPECT_LE(explained_by(axis), plane.explained()[0] + 1e-9);
  }
}

TEST(EmbeddingPlane, EqualTablesGiveEqualPlanesToTheBit) {
  const EmbeddingPlane a(sample({40, 12})), b(sample({40, 12}));
  EXPECT_EQ(a.axes(), b.axes());
  EXPECT_EQ(a.explained(), b.explained());
}

TEST(EmbeddingPlane, ATableWithoutVarianceHasAPlaneAllTheSame) {
  const EmbeddingPlane plane(Tensor::full({3, 4}, 2));
  EXPECT_EQ(plane.explained()[0], 0);
  EXPECT_NEAR(dot(plane.axes()[0], plane.axes()[0]), 1, 1e-12);
  EXPECT_NEAR(dot(plane.axes()[0], plane.axes()[1]), 0, 1e-12);
}

TEST(EmbeddingPlane, IsMadeFromTheScaledTable) {
  const SmallFolder folder;
  const auto session = folder.session();
  const Tensor table = plane_table(*session), raw = session->parameter("embedding.weight");
  EXPECT_EQ(table.shape(), raw.shape());
  EXPECT_EQ(table.values()[5], raw.values()[5] * 4);  // the root of a width of 16
}

TEST(EmbeddingPlane, CanBeCancelled) {
  std::stop_source source;
  source.request_stop();
  const CancellationScope scope([&source] { return source.stop_requested(); });
  EXPECT_THROW(EmbeddingPlane(Tensor::zeros({4, 4})), Cancelled);
}

TEST(EmbeddingPlane, RefusesTablesThatHaveNoPlane) {
  EXPECT_THROW(EmbeddingPlane(Tensor::zeros({1, 4})), Error);
  EXPECT_THROW(EmbeddingPlane(Tensor::zeros({4, 1})), Error);
}

}  // namespace
}  // namespace heed::explore
