#include "heed/infer/class_probabilities.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "heed/base/error.h"
#include "heed/infer/top_tokens.h"

namespace heed::infer {

void check_count(Index count) {
  check_as(ErrorKind::usage, count >= 1, "`top`: expected a whole number of at least 1, found ",
           count);
}

std::vector<ClassProbability> most_likely_classes(std::span<const float> logits,
                                                  std::span<const std::string> labels,
                                                  Index count) {
  check_count(count);
  std::vector<ClassProbability> classes;
  const Index all = std::min(count, std::ssize(logits));
  for (const TokenScore& best : top_tokens(LogProbabilities::of_logits(logits), all, {})) {
    classes.push_back({best.token, std::exp(double{best.log_probability}), labels[best.token]});
  }
  return classes;
}

std::vector<ClassProbability> label_probabilities(std::span<const float> logits,
                                                  std::span<const std::string> labels) {
  std::vector<ClassProbability> all;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    check_as(ErrorKind::model, std::isfinite(logits[i]), "model: expected finite logits, found ",
             logits[i]);
    all.push_back({static_cast<int>(i), 1 / (1 + std::exp(-double{logits[i]})), labels[i]});
  }
  std::ranges::stable_sort(all, std::greater(), &ClassProbability::probability);
  return all;
}

}  // namespace heed::infer
