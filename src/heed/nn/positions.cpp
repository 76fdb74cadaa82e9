#include "heed/nn/positions.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <mutex>

namespace heed::nn {
namespace {

// Tables by their options. A reader keeps the table that it got, so growing replaces and never
// changes one.
template <typename Options, typename Table>
class GrowingTables {
 public:
  template <typename Compute>
  Table get(Index length, const Options& options, Compute&& compute) {
    const std::lock_guard lock(mutex_);
    auto& [rows, table] = tables_[options];
    if (rows < length) {
      rows =
          static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>(std::max(length, min_rows))));
      table = compute(rows, options);
    }
    return table;
  }

 private:
  static constexpr Index min_rows = 256;

  std::mutex mutex_;
  std::map<Options, std::pair<Index, Table>> tables_;
};

}  // namespace

Tensor shared_sinusoidal_table(Index length, Index dim) {
  static GrowingTables<Index, Tensor> tables;
  return tables.get(length, dim, ops::sinusoidal_table);
}

ops::RotaryTable shared_rotary_table(Index length, const ops::RotaryFrequencies& frequencies) {
  static GrowingTables<ops::RotaryFrequencies, ops::RotaryTable> tables;
  return tables.get(length, frequencies, [](Index rows, const ops::RotaryFrequencies& options) {
    return ops::rotary_table(rows, options);
  });
}

Index num_positions(const Spans& spans, std::span<const Index> past) {
  Index longest = 0;
  for (Index s = 0; s < spans.count(); ++s) {
    longest = std::max(longest, spans[s].length + (past.empty() ? 0 : past[s]));
  }
  return longest;
}

PositionEmbedding::PositionEmbedding(Positions positions, Index dim, Index max_positions,
                                     const Initializer& initializer)
    : positions_(positions) {
  if (positions_ != Positions::learned) return;
  weight_ = initializer.normal({max_positions, dim}, 1 / std::sqrt(static_cast<double>(dim)));
}

Tensor PositionEmbedding::forward(const Packed& x, std::span<const Index> past) const {
  switch (positions_) {
    case Positions::sinusoidal:
      return ops::add_positions(
          x, shared_sinusoidal_table(num_positions(x.spans, past), x.values.dim(-1)), past);
    case Positions::learned:
      return ops::add_positions(x, weight_, past);
    default:
      return x.values;
  }
}

void PositionEmbedding::visit_parameters(ParameterVisitor& visitor) {
  if (weight_.is_defined()) visitor.parameter("weight", weight_);
}

}  // namespace heed::nn
