#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace heed::train {

// Of n examples in K classes, those of a class with c examples count n / (K c): once on average,
// and all classes together the same.
std::vector<float> balanced_weights(std::span<const int> classes, std::size_t num_classes);

}  // namespace heed::train
