#include "heed/ops/pooling.h"

#include <vector>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/kernels/elementwise.h"

namespace heed::ops {
namespace {

constexpr Index grain = 16;  // sequences of one piece

void check_packed(const char* op, const Packed& x) {
  check(x.values.rank() == 2 && x.spans.end_row() <= x.values.dim(0), op,
        ": expected rows [N, D] for ", x.spans.end_row(), " tokens, got ", x.values.shape());
  for (const Span& span : x.spans) {
    check(span.length > 0, op, ": expected sequences with tokens, got an empty one");
  }
}

float share_of_row(const Span& span) { return 1.0f / static_cast<float>(span.length); }

}  // namespace

Tensor mean_rows(const Packed& x) {
  check_packed("mean_rows", x);
  const Index cols = x.values.dim(1);
  Tensor y = Tensor::zeros({x.spans.count(), cols});
  parallel_ranges(x.spans.count(), grain, [&, out = y.data()](Index begin, Index end) {
    for (Index s = begin; s < end; ++s) {
      const Span& span = x.spans[s];
      float* mean = out + s * cols;
      kernels::add_rows(mean, x.values.data() + span.begin * cols, span.length, cols, cols);
      kernels::scale(mean, mean, share_of_row(span), cols);
    }
  });

  // dx = dy / length, for every row of the sequence.
  return record(
      y, {x.values}, [spans = x.spans, shape = x.values.shape()](const Tensor& dy) -> Gradients {
        const Index cols = shape.dim(1);
        Tensor dx = Tensor::zeros(shape);
        parallel_ranges(spans.count(), grain, [&, out = dx.data()](Index begin, Index end) {
          for (Index s = begin; s < end; ++s) {
            const Span& span = spans[s];
            for (Index row = span.begin; row < span.begin + span.length; ++row) {
              kernels::scale(out + row * cols, dy.data() + s * cols, share_of_row(span), cols);
            }
          }
        });
        return {dx};
      });
}

Tensor max_rows(const Packed& x) {
  check_packed("max_rows", x);
  const Index cols = x.values.dim(1);
  Tensor y = Tensor::empty({x.spans.count(), cols});
  std::vector<Index> places(static_cast<std::size_t>(y.size()));  // of each maximum, in x
  for (Index s = 0; s < x.spans.count(); ++s) {
    const Span& span = x.spans[s];
    for (Index column = 0; column < cols; ++column) {
      Index best = span.begin * cols + column;
      for (Index row = span.begin + 1; row < span.begin + span.length; ++row) {
        if (x.values.data()[row * cols + column] > x.values.data()[best]) {
          best = row * cols + column;
        }
      }
      y.data()[s * cols + column] = x.values.data()[best];
      places[s * cols + column] = best;
    }
  }
  // dx = dy at the largest, elsewhere 0.
  return record(
      y, {x.values},
      [places = std::move(places), shape = x.values.shape()](const Tensor& dy) -> Gradients {
        Tensor dx = Tensor::zeros(shape);
        for (std::size_t i = 0; i < places.size(); ++i) {
          dx.data()[places[i]] = dy.data()[i];
        }
        return {dx};
      });
}

}  // namespace heed::ops
