#include "heed/train/class_weights.h"

#include "heed/base/index.h"

namespace heed::train {

std::vector<float> balanced_weights(std::span<const int> classes, std::size_t num_classes) {
  std::vector<Index> counts(num_classes);
  for (const int one : classes) ++counts[static_cast<std::size_t>(one)];
  std::vector<float> weights;
  for (const Index count : counts) {
    const auto share = static_cast<double>(num_classes) * static_cast<double>(count);
    weights.push_back(count == 0 ? 0
                                 : static_cast<float>(static_cast<double>(classes.size()) / share));
  }
  return weights;
}

}  // namespace heed::train
