#include "support/real.h"

namespace heed::reference {

Tape tape;

std::vector<double> Tape::gradients(std::span<const Real> results,
                                    std::span<const double> weights) const {
  std::vector<double> gradients(steps_.size(), 0.0);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].place() >= 0) gradients[results[i].place()] += weights[i];
  }
  for (std::size_t place = steps_.size(); place-- > 0;) {
    const Step& step = steps_[place];
    if (step.left >= 0) gradients[step.left] += step.left_partial * gradients[place];
    if (step.right >= 0) gradients[step.right] += step.right_partial * gradients[place];
  }
  return gradients;
}

}  // namespace heed::reference
