// The problem of a classifier: what it predicts for a text.
#pragma once

namespace heed {

// One of several classes; any number of labels, each for itself; or a number.
enum class ProblemType { single_label, multi_label, regression };

}  // namespace heed
