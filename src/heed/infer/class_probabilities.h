// The most likely classes of a classifier.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/base/index.h"

namespace heed::infer {

struct ClassProbability {
  int of_class = 0;
  double probability = 0;
  std::string label = {};
};

// Refuses (ErrorKind::usage) a number of classes below 1.
void check_count(Index count);

// The `count` most likely classes of one row of logits, the most likely first; all of them if there
// are fewer, and never none. There is a label for each logit. Refuses (ErrorKind::usage) a count
// below 1, and what LogProbabilities::of_logits refuses.
std::vector<ClassProbability> most_likely_classes(std::span<const float> logits,
                                                  std::span<const std::string> labels, Index count);

// Of a model that gives any number of labels: the probability of every label, each for itself, the
// most likely first. Refuses (ErrorKind::model) logits that are not finite.
std::vector<ClassProbability> label_probabilities(std::span<const float> logits,
                                                  std::span<const std::string> labels);

}  // namespace heed::infer
