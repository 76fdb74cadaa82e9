#include "heed/explore/embedding_plane.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "heed/base/cancellation.h"
#include "heed/base/error.h"
#include "heed/ops/linear.h"

namespace heed::explore {
namespace {

// A symmetric matrix [D, D].
struct Symmetric {
  Index dim;
  std::vector<double> cells;
  double& at(Index i, Index j) { return cells[i * dim + j]; }
  double at(Index i, Index j) const { return cells[i * dim + j]; }
};

std::vector<double> mean_of(const Tensor& table) {
  const Index rows = table.dim(0), dim = table.dim(1);
  std::vector<double> mean(dim, 0.0);
  for (Index row = 0; row < rows; ++row) {
    for (Index i = 0; i < dim; ++i) mean[i] += table.data()[row * dim + i];
  }
  for (double& value : mean) value /= static_cast<double>(rows);
  return mean;
}

Symmetric covariance_of(const Tensor& table, std::span<const double> mean) {
  const Index rows = table.dim(0), dim = table.dim(1);
  Symmetric covariance{dim, std::vector<double>(dim * dim, 0.0)};
  std::vector<double> centred(dim);
  for (Index row = 0; row < rows; ++row) {
    check_cancelled();
    for (Index i = 0; i < dim; ++i) centred[i] = table.data()[row * dim + i] - mean[i];
    for (Index i = 0; i < dim; ++i) {
      for (Index j = i; j < dim; ++j) covariance.at(i, j) += centred[i] * centred[j];
    }
  }
  for (Index i = 0; i < dim; ++i) {
    for (Index j = i; j < dim; ++j) {
      covariance.at(j, i) = covariance.at(i, j) /= static_cast<double>(rows);
    }
  }
  return covariance;
}

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// v without its part along `other`, with length 1; all zeros when nothing is left.
void make_unit_beside(std::vector<double>& v, const std::vector<double>* other) {
  if (other) {
    const double part = dot(v, *other);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] -= part * (*other)[i];
  }
  const double length = std::sqrt(dot(v, v));
  for (double& value : v) value = length > 0 ? value / length : 0;
}

// A start vector that no table has reason to be orthogonal to.
std::vector<double> start_vector(Index dim) {
  std::vector<double> v(dim);
  for (Index i = 0; i < dim; ++i) v[i] = 1 + std::cos(static_cast<double>(i + 1));
  return v;
}

// The axis of most variance beside `other`, by power iteration: v <- C v, until it converges.
// Axes of nearly equal variance may mix; either is as good.
std::vector<double> axis_of(const Symmetric& covariance, const std::vector<double>* other) {
  constexpr int max_steps = 2000;
  constexpr double converged = 1e-13;
  std::vector<double> v = start_vector(covariance.dim), next(v.size());
  make_unit_beside(v, other);
  for (int step = 0; step < max_steps; ++step) {
    check_cancelled();
    for (Index i = 0; i < covariance.dim; ++i) {
      next[i] = dot(std::span(covariance.cells).subspan(i * covariance.dim, covariance.dim), v);
    }
    make_unit_beside(next, other);
    if (dot(next, next) == 0) break;  // no variance is left: any direction will do
    const double agreement = dot(next, v);
    v = next;
    if (1 - agreement < converged) break;
  }
  make_unit_beside(v, other);
  return v;
}

// Of the two directions of an axis, the one in which its largest component is positive.
void fix_sign(std::vector<double>& axis) {
  const auto largest =
      std::ranges::max_element(axis, [](double a, double b) { return std::abs(a) < std::abs(b); });
  if (*largest >= 0) return;
  for (double& value : axis) value = -value;
}

double variance_along(const Symmetric& covariance, std::span<const double> axis) {
  double sum = 0;
  for (Index i = 0; i < covariance.dim; ++i) {
    sum += axis[i] *
           dot(std::span(covariance.cells).subspan(i * covariance.dim, covariance.dim), axis);
  }
  return sum;
}

}  // namespace

Tensor plane_table(const ModelSession& session) {
  Tensor table = session.parameter("source_embedding.weight");
  if (!table.is_defined()) table = session.parameter("embedding.weight");
  check_as(ErrorKind::usage, table.is_defined(),
           "explore: expected a model with an embedding of tokens, found one without");
  const float factor = models::embedding_scale(session.config());
  Tensor scaled = Tensor::empty(table.shape());
  std::ranges::transform(std::as_const(table).values(), scaled.data(),
                         [&](float value) { return value * factor; });
  return in_model_width(session, scaled);
}

Tensor in_model_width(const ModelSession& session, const Tensor& rows) {
  const Tensor weight = session.parameter("embedding_projection.weight");
  if (!weight.is_defined() || rows.dim(1) == session.config().model_dim) return rows;
  const NoGrad no_grad;
  return ops::linear(rows, weight, session.parameter("embedding_projection.bias"));
}

EmbeddingPlane::EmbeddingPlane(const Tensor& table) {
  check(table.rank() == 2 && table.dim(0) >= 2 && table.dim(1) >= 2,
        "embedding plane: expected a table of at least 2 rows and columns, got ", table.shape());
  mean_ = mean_of(table);
  const Symmetric covariance = covariance_of(table, mean_);
  double total = 0;
  for (Index i = 0; i < covariance.dim; ++i) total += covariance.at(i, i);
  for (std::size_t number = 0; number < axes_.size(); ++number) {
    axes_[number] = axis_of(covariance, number == 0 ? nullptr : &axes_[0]);
    fix_sign(axes_[number]);
    explained_[number] = total > 0 ? variance_along(covariance, axes_[number]) / total : 0;
  }
}

PlanePoint EmbeddingPlane::project(std::span<const float> vector) const {
  check(vector.size() == mean_.size(), "embedding plane: expected a vector of ", mean_.size(),
        " numbers, got ", vector.size());
  std::array<double, 2> sums = {};
  for (std::size_t i = 0; i < vector.size(); ++i) {
    const double centred = vector[i] - mean_[i];
    for (std::size_t number = 0; number < axes_.size(); ++number) {
      sums[number] += centred * axes_[number][i];
    }
  }
  return {sums[0], sums[1]};
}

}  // namespace heed::explore
