// The loss of a classification: cross-entropy with label smoothing and class weights.
#pragma once

#include <span>

#include "heed/models/model.h"

namespace heed::models {

// Logits [N, classes], and the class of each row. A row counts by its class's weight, label
// smoothing included; once without class weights.
Loss class_loss(const Tensor& logits, std::span<const int> classes, float label_smoothing,
                std::span<const float> class_weights = {});

}  // namespace heed::models
