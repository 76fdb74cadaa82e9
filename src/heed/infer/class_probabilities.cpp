#include "heed/infer/class_probabilities.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/infer/top_tokens.h"

namespace heed::infer {

std::vector<ClassProbability> most_likely_classes(std::span<const float> logits,
                                                  std::span<const std::string> labels,
                                                  Index count) {
  check_as(ErrorKind::usage, count >= 1, "`top`: expected a whole number of at least 1, found ",
           count);
  std::vector<ClassProbability> classes;
  const Index all = std::min(count, std::ssize(logits));
  for (const TokenScore& best : top_tokens(LogProbabilities::of_logits(logits), all, {})) {
    classes.push_back({best.token, std::exp(double{best.log_probability}), labels[best.token]});
  }
  return classes;
}

}  // namespace heed::infer
