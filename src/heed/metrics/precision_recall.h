// Precision, recall and F1: how well what was found agrees with what should have been found.
#pragma once

#include <cstdint>

namespace heed::metrics {

// All from 0 to 1. What has nothing to be counted over is 0.
struct PrecisionRecall {
  double precision = 0;  // of what was found, the share that is right
  double recall = 0;     // of what is right, the share that was found
  double f1 = 0;         // their harmonic mean
};

// Of the counts: found and right, all that was found, all that is right.
PrecisionRecall precision_recall(std::int64_t num_matched, std::int64_t num_found,
                                 std::int64_t num_right);

}  // namespace heed::metrics
