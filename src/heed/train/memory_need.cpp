#include "heed/train/memory_need.h"

#include "heed/base/error.h"
#include "heed/base/memory.h"
#include "heed/core/storage.h"
#include "heed/train/trained_parameters.h"

namespace heed::train {

std::optional<Index> memory_for_tensors() {
  const std::optional<Index> available = available_memory();
  if (!available) return std::nullopt;
  return *available + peak_tensor_bytes() - tensor_bytes();
}

Index optimizer_bytes(Index num_trained, const TrainingOptions& options) {
  const Index floats_each = 1 + 2 + (options.ema > 0 ? 1 : 0);
  return num_trained * floats_each * static_cast<Index>(sizeof(float));
}

void check_memory(Index bytes, const std::string& what, std::optional<Index> available) {
  check(!available || bytes <= *available, "training: expected ", in_gigabytes(bytes),
        " of memory for ", what, ", found ", in_gigabytes(available.value_or(0)));
}

void check_memory_for(const models::TransformerConfig& model, const TrainingOptions& options,
                      std::optional<Index> available) {
  const Index num_parameters = models::num_parameters(model);
  const Index weights = num_parameters * static_cast<Index>(sizeof(float));
  const std::string count = std::to_string(num_parameters);
  if (needs_base_model(options)) {  // a part of them is trained
    check_memory(weights, count + " parameters", available);
  } else {
    check_memory(weights + optimizer_bytes(num_parameters, options),
                 count + " parameters with their gradients and Adam moments", available);
  }
}

}  // namespace heed::train
