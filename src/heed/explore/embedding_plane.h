// One plane for all words: the two directions in which a model's embedding table spreads most.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "heed/core/tensor.h"
#include "heed/explore/model_session.h"

namespace heed::explore {

struct PlanePoint {
  double x = 0, y = 0;
};

// The rows that a model's plane is made from, [V, D]: of the tokens as the model scales them, and
// of a translation those that its encoder reads.
Tensor plane_table(const ModelSession& session);

// rows [N, E] of the embeddings' width, as wide as the model; rows that are so wide already stay.
Tensor in_model_width(const ModelSession& session, const Tensor& rows);

// The principal axes of the rows of a table, in double. Made once from a model's weights and never
// fitted again, so that points of different sentences, layers and checkpoints can be compared.
class EmbeddingPlane {
 public:
  // table [V, D], V and D at least 2. Axes have length 1, stand at right angles, and point to where
  // their component of largest magnitude is positive; equal tables give equal planes, to the bit.
  explicit EmbeddingPlane(const Tensor& table);

  // A vector [D] less the mean of the table, along both axes.
  PlanePoint project(std::span<const float> vector) const;
  // The part of the table's variance along each axis.
  const std::array<double, 2>& explained() const { return explained_; }
  const std::array<std::vector<double>, 2>& axes() const { return axes_; }
  const std::vector<double>& mean() const { return mean_; }

 private:
  std::vector<double> mean_;                 // [D]
  std::array<std::vector<double>, 2> axes_;  // [D] each
  std::array<double, 2> explained_ = {};
};

}  // namespace heed::explore
