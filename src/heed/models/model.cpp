#include "heed/models/model.h"

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/models/initial_step.h"

namespace heed::models {

Model::Model(const TransformerConfig& config, ModelKind kind) : config_(config) {
  validate(config_);
  check(config_.kind == kind, "model: expected a configuration of type ", name_of(kind), ", got ",
        name_of(config_.kind));
  check(!has_classes(kind) || !config_.labels.empty(), "model: expected labels for ", name_of(kind),
        ", got none");
}

nn::Initializer initial_weights(const TransformerConfig& config, std::uint64_t seed) {
  check(config.weights == WeightFormat::f32, "model: expected weights of f32 to train, got ",
        name_of(config.weights));
  return nn::Initializer::random(random_key(seed, initial_step, 0));
}

}  // namespace heed::models
