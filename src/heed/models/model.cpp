#include "heed/models/model.h"

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/models/initial_step.h"
#include "heed/models/model_kinds.h"
#include "heed/nn/packing.h"

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

template <typename AnyModel>
std::vector<nn::NamedTensor> parameters(const AnyModel& model) {
  AnyModel shared = model;  // visit_parameters is not const
  return nn::dequantized_parameters(shared);
}

template <typename AnyModel>
AnyModel pack(const AnyModel& model) requires std::derived_from<AnyModel, Model> {
  AnyModel copy = model;
  nn::pack_weights(copy);
  return copy;
}

template <typename AnyModel>
AnyModel quantize(const AnyModel& model, WeightFormat format) {
  check(format != WeightFormat::f32, "quantize: expected a format other than f32");
  AnyModel copy = model;
  nn::quantize_weights(copy, format);
  copy.config_.weights = format;
  return copy;
}

#define HEED_INSTANTIATE_MODEL(AnyModel)                             \
  template std::vector<nn::NamedTensor> parameters(const AnyModel&); \
  template AnyModel pack(const AnyModel&);                           \
  template AnyModel quantize(const AnyModel&, WeightFormat);
HEED_INSTANTIATE_MODEL(TranslationModel)
HEED_INSTANTIATE_MODEL(LanguageModel)
HEED_INSTANTIATE_MODEL(Classifier)
HEED_INSTANTIATE_MODEL(MaskedModel)
HEED_INSTANTIATE_MODEL(ImageClassifier)
HEED_INSTANTIATE_MODEL(Tagger)
HEED_INSTANTIATE_MODEL(Encoder)
#undef HEED_INSTANTIATE_MODEL

}  // namespace heed::models
