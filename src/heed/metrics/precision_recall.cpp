#include "heed/metrics/precision_recall.h"

namespace heed::metrics {
namespace {

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

// F1 from the rounded shares, as the Python packages compute it: of two references with an equal F1
// the same one is then the better by the last bit.
PrecisionRecall precision_recall(std::int64_t num_matched, std::int64_t num_found,
                                 std::int64_t num_right) {
  const double precision = share(num_matched, num_found), recall = share(num_matched, num_right);
  const double sum = precision + recall;
  return {precision, recall, sum == 0 ? 0 : 2 * precision * recall / sum};
}

}  // namespace heed::metrics
