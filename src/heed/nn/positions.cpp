#include "heed/nn/positions.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

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

Tensor shared_sinusoidal_table(Index length, Index dim, ops::SinusoidOrder order) {
  using Options = std::pair<Index, ops::SinusoidOrder>;
  static GrowingTables<Options, Tensor> tables;
  return tables.get(length, {dim, order}, [](Index rows, const Options& options) {
    return ops::sinusoidal_table(rows, options.first, options.second);
  });
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

PositionEmbedding::PositionEmbedding(const PositionEmbeddingOptions& options,
                                     const Initializer& initializer)
    : options_(options) {
  if (options_.positions != Positions::learned) return;
  weight_ = initializer.normal({options_.offset + options_.max_positions, options_.dim},
                               1 / std::sqrt(static_cast<double>(options_.dim)));
}

Tensor PositionEmbedding::forward(const Packed& x, std::span<const Index> past) const {
  if (weight_.is_defined()) return add_table(x, weight_, past);
  if (options_.positions != Positions::sinusoidal) return x.values;
  const Index num_rows = num_positions(x.spans, past) + options_.offset;
  const Index dim = x.values.dim(-1);
  return add_table(x, shared_sinusoidal_table(num_rows, dim, options_.sinusoid_order), past);
}

// x + the rows of its positions, counted from the offset.
Tensor PositionEmbedding::add_table(const Packed& x, const Tensor& table,
                                    std::span<const Index> past) const {
  if (options_.offset == 0) return ops::add_positions(x, table, past);
  std::vector<Index> first_rows(past.begin(), past.end());
  first_rows.resize(x.spans.count(), 0);
  for (Index& row : first_rows) row += options_.offset;
  return ops::add_positions(x, table, first_rows);
}

void PositionEmbedding::visit_parameters(ParameterVisitor& visitor) {
  if (weight_.is_defined()) visitor.parameter("weight", weight_);
}

}  // namespace heed::nn
