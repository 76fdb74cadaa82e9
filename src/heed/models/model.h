// The base class of all models: a checked configuration, and copies of a model for inference.
#pragma once

#include <concepts>
#include <cstdint>
#include <vector>

#include "heed/models/transformer_config.h"
#include "heed/nn/initializer.h"
#include "heed/nn/module.h"

namespace heed::models {

struct Loss {
  Tensor loss;  // [], the sum over all predictions, label-smoothed and weighted: for backward()
  double negative_log_likelihood = 0;  // the sum of -log p, without smoothing and weights
};

// Every model class has `static constexpr ModelKind kind`, `visit_parameters`, and constructors
// from a configuration and a seed, or an initializer.
class Model {
 public:
  const TransformerConfig& config() const { return config_; }

 protected:
  // Refuses a configuration that is not valid, or of another kind.
  Model(const TransformerConfig& config, ModelKind kind);

  TransformerConfig config_;

 private:
  template <typename AnyModel>
  friend AnyModel quantize(const AnyModel& model, WeightFormat format);
};

// Random initial weights. Refuses a configuration of quantized weights, which cannot be trained.
nn::Initializer initial_weights(const TransformerConfig& config, std::uint64_t seed);

// A model whose parameters have memory but no values yet, for callers that fill them all.
template <typename AnyModel>
AnyModel uninitialized(const TransformerConfig& config) {
  return AnyModel(config, nn::Initializer::uninitialized());
}

// The functions that follow exist for the seven models.

// The model's parameters, to read: they share their values with the model, except quantized
// weights, which come dequantized.
template <typename AnyModel>
std::vector<nn::NamedTensor> parameters(const AnyModel& model);

// A copy for inference that holds its weights packed, too: the same bits, faster. It shares the
// values with `model`, which must not change while the copy lives, and cannot be trained.
template <typename AnyModel>
AnyModel pack(const AnyModel& model) requires std::derived_from<AnyModel, Model>;

// A copy for inference in less memory, with weights rounded to a format other than f32. Norms,
// biases and positions stay floats. It cannot be trained.
template <typename AnyModel>
AnyModel quantize(const AnyModel& model, WeightFormat format);

}  // namespace heed::models
