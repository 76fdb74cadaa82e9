#include "heed/train/memory_need.h"

#include <algorithm>

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

namespace {

// Floats of size feed_forward_dim that a token leaves in the feed-forward, before and after the
// activation.
Index num_hidden(const models::TransformerConfig& model) {
  switch (model.activation) {
    case models::Activation::relu:
      return 1;
    case models::Activation::gelu:
    case models::Activation::gelu_tanh:
    case models::Activation::quick_gelu:
    case models::Activation::silu:
      return 2;
    case models::Activation::swiglu:
      return 4;
  }
  return 1;  // not reached: the enum has no other value
}

}  // namespace

Index activation_bytes(const models::TransformerConfig& model, Index num_source_tokens,
                       Index num_target_tokens) {
  const Index dim = model.model_dim;
  const Index key_value_heads =
      model.num_key_value_heads > 0 ? model.num_key_value_heads : model.num_heads;
  const Index key_dim = dim / model.num_heads * key_value_heads;
  // The input of a sub-layer and that of its norm, the queries and what the heads give.
  const Index attention = 4 * dim;
  const Index feed_forward = 2 * dim + num_hidden(model) * model.feed_forward_dim;
  const Index block = attention + 2 * key_dim + feed_forward;
  // Without an encoder the decoder reads all tokens, also those of prompts.
  const Index num_decoder_tokens =
      model.encoder_layers > 0 ? num_target_tokens : std::max(num_source_tokens, num_target_tokens);
  Index floats = model.encoder_layers * num_source_tokens * block +
                 model.decoder_layers * num_decoder_tokens * block;
  if (model.encoder_layers > 0) {  // cross-attention
    floats +=
        model.decoder_layers * (num_target_tokens * attention + num_source_tokens * 2 * key_dim);
  }
  return floats * static_cast<Index>(sizeof(float));
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
