// The memory that training takes at least, compared with what there is.
#pragma once

#include <optional>
#include <string>

#include "heed/base/index.h"
#include "heed/train/recipe.h"

namespace heed::train {

// What the system has left for the process, and what tensors that are gone leave for new ones.
std::optional<Index> memory_for_tensors();

// Of gradients, both moments of Adam and the moving average of the weights.
Index optimizer_bytes(Index num_trained, const TrainingOptions& options);

// What the forward pass of a batch keeps for the backward pass at least: the inputs and outputs of
// every sub-layer. The encoder reads the source tokens, the decoder the target tokens.
Index activation_bytes(const models::TransformerConfig& model, Index num_source_tokens,
                       Index num_target_tokens);

// Refuses (ErrorKind::failed) what certainly does not fit: "training: expected 41.3 GB of memory
// for WHAT, found 22.0 GB".
void check_memory(Index bytes, const std::string& what,
                  std::optional<Index> available = memory_for_tensors());

// The same for a model that is about to be made, and for training it.
void check_memory_for(const models::TransformerConfig& model, const TrainingOptions& options,
                      std::optional<Index> available = memory_for_tensors());

// The recipe's model with random weights, unless it is too large.
template <typename Model>
Model make_model(const Recipe& recipe) {
  check_memory_for(recipe.model, recipe.training);
  return Model(recipe.model, recipe.training.seed);
}

}  // namespace heed::train
